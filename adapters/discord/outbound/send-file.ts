import type { FilePart } from '../../../src/channels/capabilities.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import { sendableName } from '../../../src/core/sendable-name.ts'
import { FILE_DEADLINE_MS, ofTheFile } from '../../shared/files.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { toSendReceipt } from './receipts.ts'
import { channelOf, create, type Ports } from './send.ts'

const LOCATE_DEADLINE_MS = 15_000
/** The file is too large, or may not be sent there; where no text may either, the text is refused after it. */
const OF_FILE: ReadonlySet<number> = new Set([40_005, 50_013, 240_000])

/** Sends a file beside the body of its message; the key makes a repetition harmless, as for texts. */
export async function sendFile(
  ports: Ports,
  { file, bytes, ...part }: FilePart,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const { client, directs } = ports
  const visible = stripNoReply(part.rendered)
  if (visible === null) return { kind: 'rejected', reason: 'silent' }
  const channel = await channelOf(directs, part.address, { signal, deadlineMs: LOCATE_DEADLINE_MS })
  if (typeof channel !== 'string') return channel
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const files = [{ name: sendableName(file.name), data, contentType: file.mime }]
  const outcome = await create(ports, { channel, part: { ...part, rendered: visible } }, (body) =>
    client.call(
      { verb: 'POST', path: `/channels/${channel}/messages`, body, files },
      { signal, deadlineMs: FILE_DEADLINE_MS },
    ),
  )
  if (outcome.kind === 'answered') failpoint('CP13-response-read')
  const ofFile = outcome.kind === 'refused' && (outcome.status === 413 || OF_FILE.has(outcome.code))
  return ofTheFile(toSendReceipt(outcome, part.address), ofFile)
}
