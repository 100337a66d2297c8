import { refresh } from '../pipelines/refresh.ts';
import { defaultSettings } from '../src/kit/config/settings.ts';
import { DataDirectory } from '../src/kit/config/data-directory.ts';
import { createLogger } from '../src/kit/logging/log.ts';
import { noProgress } from '../src/kit/logging/progress.ts';
import { GrowingLanding, wallClock } from './fault/lives/growing-landing.ts';
import { watchedEffects } from './fault/lives/watched-effects.ts';
import { rm, mkdir } from 'node:fs/promises';
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const effects = watchedEffects(wallClock, () => undefined);
for (let n=0;n<6;n++){
  const data=new DataDirectory('/dev/shm/ptmp'); await rm(data.root,{recursive:true,force:true});
  const landing=new GrowingLanding(5,4); await landing.prepare(data);
  const t=performance.now(), u=process.cpuUsage();
  for(let r=0;r<4;r++){ await landing.land(data,r); await refresh({data,terminal,asOf:landing.asOf(r)},effects); }
  const d=process.cpuUsage(u); console.log(n,'cpu per refresh',((d.user/4e6)).toFixed(3),(d.system/4e6).toFixed(3),'wall',((performance.now()-t)/4000).toFixed(3));
}
