/** The first id that we assign; below it sources may bring their own. */
const firstAssignedId = 1_000_001;
const maxId = 2 ** 31 - 1;

/** An offer by its source's own id. */
export interface OfferName {
  source: string;
  externalId: string;
}

interface IdRequest extends OfferName {
  /** The id that the record brings, if any. */
  id: number | null;
}

export type IdOutcome =
  /** `kept`: the record brought another id than the one that its offer already has. */
  | { offerId: number; kept: boolean }
  /** The id that the record brings is another offer's. */
  | 'id_taken';

/**
 * Gives each record of a run its offer's public id; outcomes are in the order of the requests. `owners` are all ids
 * ever used, which are never given to another offer. Ids that records bring are claimed first, in order, so that none
 * of them is assigned to an offer without one.
 */
export function assignIds(
  owners: Iterable<OfferName & { offerId: number }>,
  requests: readonly IdRequest[],
): IdOutcome[] {
  const ownerOf = new Map<number, string>();
  const idOf = new Map<string, number>();
  const give = (offerId: number, name: string) => {
    ownerOf.set(offerId, name);
    idOf.set(name, offerId);
  };
  for (const owner of owners) give(owner.offerId, nameKey(owner));

  const taken = requests.map((request) => {
    if (request.id === null) return false;
    const name = nameKey(request);
    const owner = ownerOf.get(request.id);
    if (owner === undefined && !idOf.has(name)) give(request.id, name);
    return owner !== undefined && owner !== name;
  });

  let next = firstAssignedId;
  return requests.map((request, index) => {
    if (taken[index]) return 'id_taken';
    const name = nameKey(request);
    if (!idOf.has(name)) {
      while (ownerOf.has(next)) next++;
      if (next > maxId)
        throw new RangeError('All public offer ids up to 2147483647 are in use; give offers their ids in the catalog');
      give(next, name);
    }
    const offerId = idOf.get(name) as number;
    return { offerId, kept: request.id !== null && request.id !== offerId };
  });
}

function nameKey({ source, externalId }: OfferName): string {
  return JSON.stringify([source, externalId]);
}
