import { textOf } from '../../core/content.ts'
import type { SessionEvent } from '../../core/event.ts'
import { type ForgetReader, PAGE, type Pause } from './forget-reader.ts'
import type { SessionScan } from './scan-session.ts'

interface LogReading {
  readonly scan: SessionScan
  /** The first or the second reading. */
  readonly step: 0 | 1
  readonly pause: Pause
}

/** Reads a log on from where it was read, with a pause after some milliseconds of work. */
export async function readLog(
  { events }: Pick<ForgetReader, 'events'>,
  { scan, step, pause }: LogReading,
): Promise<void> {
  for (;;) {
    const page = await events.since(scan.session.id, scan.read[step], PAGE)
    if (page.length === 0) return
    for (const some of inSizes(page)) {
      if (step === 0) scan.find(some)
      else scan.follow(some)
      await pause()
    }
  }
}

/** Characters of results between two pauses: some milliseconds as well. */
const AT_ONCE = 100_000

/** Results of tools are long, and all of each is compared. */
function* inSizes(page: readonly SessionEvent[]): Generator<readonly SessionEvent[]> {
  let [from, size] = [0, 0]
  for (const [at, { type, data }] of page.entries()) {
    size += type === 'tool_result' ? textOf(data.content).length : 0
    if (size < AT_ONCE) continue
    yield page.slice(from, at + 1)
    from = at + 1
    size = 0
  }
  if (from < page.length) yield page.slice(from)
}
