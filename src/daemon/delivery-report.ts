import { formatAddress } from '../core/address.ts'
import type { DeliveryReport, ListedDelivery } from '../core/operate-parts.ts'
import type { Delivery } from '../core/outbound.ts'
import { placeTitle } from '../sessions/service/place-title.ts'
import type { StoreReader } from '../store/store.ts'

/** Returns a delivery as lists of a status have it, with the name of its place. */
export async function listedDelivery(
  { id, address, sessionId, state, reason, traceId }: Delivery,
  read: StoreReader,
): Promise<ListedDelivery> {
  return {
    ...{ id, address: formatAddress(address), state, traceId },
    ...(await placeTitle(read, address, sessionId)),
    ...(reason === undefined ? {} : { reason }),
  }
}

/** Returns the whole report of one delivery. */
export async function deliveryReport(delivery: Delivery, read: StoreReader): Promise<DeliveryReport> {
  const { class: kind, attempt, sessionId, messageId } = delivery
  return {
    ...(await listedDelivery(delivery, read)),
    ...{ class: kind, attempt },
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(messageId === undefined ? {} : { messageId }),
  }
}
