import type { DeliveryReceipt } from '../../src/core/outbound.ts'

/** From the first byte of a file to the last of its answer: twenty megabytes over a slow line. */
export const FILE_DEADLINE_MS = 120_000

/** Returns a refusal as one of the file, after which its text is sent without it; any other receipt as it is. */
export function ofTheFile(receipt: DeliveryReceipt, isOfFile: boolean): DeliveryReceipt {
  if (receipt.kind !== 'rejected' || !isOfFile || receipt.retryAfterMs !== undefined) return receipt
  return { ...receipt, of: 'file' }
}
