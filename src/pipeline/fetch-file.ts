import type { Address } from '../core/address.ts'
import { type Clock, sleep } from '../core/clock.ts'
import type { FetchedFile } from '../core/media.ts'

/** A file as it is asked for, where it came. */
export interface AskedFile {
  readonly address: Address
  readonly ref: string
  readonly most: number
}

interface FetchDeps {
  readonly clock: Clock
  readonly files: {
    /** Never rejects; undefined while the platform cannot be asked. */
    fetch(file: AskedFile, signal: AbortSignal): Promise<FetchedFile | undefined>
  }
}

const PAUSE_MS = 1_000
/** Looks for a channel that is down, a pause apart: after a start a turn may continue before its platform is up. */
const MOST_LOOKS = 20

/** A platform in trouble for a moment is asked once more; one that cannot be asked yet is waited for. */
export async function fetchPatiently(
  { files, clock }: FetchDeps,
  asked: AskedFile,
  signal: AbortSignal,
): Promise<FetchedFile> {
  let failures = 0
  for (let looks = 1; ; looks++) {
    const fetched = await files.fetch(asked, signal)
    if (fetched?.kind === 'failed') failures++
    const isLast = fetched === undefined ? looks >= MOST_LOOKS : fetched.kind !== 'failed' || failures > 1
    if (isLast || signal.aborted) return fetched ?? { kind: 'failed', reason: 'the channel is down' }
    await sleep(clock, PAUSE_MS, signal)
    if (signal.aborted) return fetched ?? { kind: 'failed', reason: 'the channel is down' }
  }
}
