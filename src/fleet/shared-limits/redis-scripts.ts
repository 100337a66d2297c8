import { hash } from 'node:crypto';

/** Where all of this lies in Redis. */
const prefix = 'offerline:limits:';
/** A window is a sorted set: names of counted requests by their moment, milliseconds since the epoch. */
export const windowKey = (scope: string, name: string) => `${prefix}window:${scope}:${name}`;
export const windowKeys = (scope: string) => `${prefix}window:${scope}:`;
/** How many servers were there lately. Without it the counts are gone, since it never expires. */
const serversKey = `${prefix}servers`;
/** Until when servers that have not come back yet may have let in requests that are not counted here. */
const guardKey = `${prefix}guard`;
/** Each counted request, told to all servers: scope, name, moment, length, servers away, and the window's name. */
export const countedChannel = `${prefix}counted`;
/** Who listens here has told all that it let in alone, so its listeners are the servers that count here. */
export const presentChannel = `${prefix}present`;

/** So long the part of a server that is suddenly gone is kept for it: it may be cut off and let in requests alone. */
const graceMilliseconds = 10_000;

/** What the scripts' error begins with where Redis has lost the counts, as after FLUSHALL. */
const countsLost = 'COUNTSLOST';

/** Lua that sets `now`, milliseconds since the epoch: Redis' own clock, one for all servers. */
export const redisClock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** A Lua script, run by its digest once Redis knows it. */
export interface Script {
  text: string;
  digest: string;
}

export interface Scripts {
  decide: Script;
  report: Script;
  join: Script;
  look: Script;
  tell: Script;
}

/** How many servers are away, as far as their parts have to be kept: sets `away`. */
const countAway = `
local present = redis.call('PUBSUB', 'NUMSUB', '${presentChannel}')[2]
local known = redis.call('HMGET', '${serversKey}', 'most', 'until')
if not known[1] then return redis.error_reply('${countsLost} no counts are kept here any more') end
local most, mostUntil = tonumber(known[1]), tonumber(known[2])
if mostUntil <= now or mostUntil > now + ${graceMilliseconds} then most = 0 end
if present >= most and (present > most or mostUntil < now + ${graceMilliseconds / 2}) then
  most = present
  redis.call('HSET', '${serversKey}', 'most', most, 'until', string.format('%.0f', now + ${graceMilliseconds}))
end
local away = most - present
local guard = tonumber(redis.call('GET', '${guardKey}') or 0)
if guard > now then away = math.max(away, servers - present) end
away = math.max(0, math.min(away, servers - 1))`;

/**
 * Lets a request in where there is room, or only looks where it has no name. Keys: the window. Arguments: the request's
 * name, limit, length of the window, servers, scope, the window's name. Returns whether there is room, how much of the
 * limit can be used at all, how many are counted, now, the moments of the oldest one and of the one that has to leave
 * first (0 where there is none), and how many servers are away.
 */
const decide = (clock: string) => `
local id, limit, length, servers = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
${clock}
${countAway}
local room = limit - away * math.floor(limit / servers)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - length))
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('%.0f', now + length), '+inf')
local counted = redis.call('ZCARD', KEYS[1])
local allowed = 0
if counted < room then
  allowed = 1
  if id ~= '' then
    local at = string.format('%.0f', now)
    redis.call('ZADD', KEYS[1], at, id)
    redis.call('PEXPIRE', KEYS[1], length)
    redis.call('PUBLISH', '${countedChannel}', ARGV[5] .. ' ' .. id .. ' ' .. at .. ' ' .. length .. ' ' .. away .. ' ' .. ARGV[6])
    counted = counted + 1
  end
end
local function moment(index)
  return tonumber(redis.call('ZRANGE', KEYS[1], index, index, 'WITHSCORES')[2] or 0)
end
local blocking = 0
if counted >= room then blocking = moment(counted - room) end
return { allowed, room, counted, now, moment(0), blocking, away }`;

/**
 * Counts requests that Redis may lack; one that it has stays the same one. Keys: the window. Arguments: scope, length,
 * the window's name, and pairs of moment and name. Returns how many were new.
 */
const report = (clock: string) => `
local length = tonumber(ARGV[2])
${clock}
local new = 0
for place = 4, #ARGV, 2 do
  local at, id = ARGV[place], ARGV[place + 1]
  if tonumber(at) > now - length and redis.call('ZADD', KEYS[1], 'GT', at, id) == 1 then
    new = new + 1
    redis.call('PUBLISH', '${countedChannel}', ARGV[1] .. ' ' .. id .. ' ' .. at .. ' ' .. ARGV[2] .. ' - ' .. ARGV[3])
  end
end
if redis.call('ZCARD', KEYS[1]) > 0 then redis.call('PEXPIRE', KEYS[1], 2 * length) end
return new`;

/**
 * A server begins to count here. Argument: for how long parts are kept for servers that have not come back, 0 for not
 * at all. Returns now.
 */
const join = (clock: string) => `
local keep = tonumber(ARGV[1])
${clock}
if redis.call('EXISTS', '${serversKey}') == 0 then redis.call('HSET', '${serversKey}', 'most', 0, 'until', 0) end
if keep > 0 then redis.call('SET', '${guardKey}', string.format('%.0f', now + keep), 'PX', 2 * keep) end
redis.call('HINCRBY', '${serversKey}', 'joined', 1)
return now`;

/** What is to be known where no request asks. Argument: servers. Returns now, and how many are away. */
const look = (clock: string) => `
local servers = tonumber(ARGV[1])
${clock}
${countAway}
return { now, away }`;

/** The scripts by a clock; another than Redis' own is for tests, whose hours have to pass. */
export function scriptsBy(clock: string): Scripts {
  const script = (text: string): Script => ({ text, digest: hash('sha1', text) });
  return {
    decide: script(decide(clock)),
    report: script(report(clock)),
    join: script(join(clock)),
    look: script(look(clock)),
    tell: script(`${clock}\nreturn now`),
  };
}
