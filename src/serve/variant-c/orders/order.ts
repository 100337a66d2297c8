import { ApiError } from '../../../kit/http/errors.ts';
import { OfferlineError } from '../../../kit/errors/errors.ts';
import { hourlyOrders } from '../../access/limits.ts';
import { bySecret, errorsBySecret } from '../../endpoints/operation.ts';
import { cacheControl } from '../../http/caching.ts';
import { variantC } from '../variant.ts';

/** Declared alike by all that a site orders. */
export const ofOrders = {
  method: 'POST',
  variant: variantC,
  identify: bySecret,
  limit: hourlyOrders,
  cacheControl: cacheControl.noStore,
  errorKinds: [...errorsBySecret, 'wrong_parameter', 'nothing_found'],
} as const;

/** Throws `ApiError` where what keeps deliveries cannot be used. */
export async function carriedOut<Result>(order: Promise<Result>): Promise<Result> {
  try {
    return await order;
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    throw new ApiError(
      'unavailable',
      'deliveries cannot be reached now; send the same order again in some minutes: it is carried out once',
      { cause: error },
    );
  }
}
