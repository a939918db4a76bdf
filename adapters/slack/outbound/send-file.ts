import type { FilePart } from '../../../src/channels/capabilities.ts'
import { type Clock, sleep } from '../../../src/core/clock.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import { parseUrl } from '../../../src/core/parse-url.ts'
import { sendableName } from '../../../src/core/sendable-name.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { FILE_DEADLINE_MS, ofTheFile } from '../../shared/files.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { isStamp, toApiTarget } from '../address.ts'
import type { CallOptions, CallOutcome, SlackClient, SlackUploads } from '../connection/client.ts'
import type { SlackMethod } from '../connection/scopes.ts'
import { besideThread, OF_THREAD, toReceipt, toSendReceipt } from './receipts.ts'
import { content } from './send.ts'

const CALL_DEADLINE_MS = 15_000
/** The platform shares a file a moment after it has answered. */
const LOOKS_MS = [0, 400, 1_200]

/** Refusals of the conversation rather than of the file: a text would be refused as well. */
const OF_PLACE: ReadonlySet<string> = new Set([
  'channel_not_found',
  'not_in_channel',
  'is_archived',
  'restricted_action',
  'ratelimited',
  ...OF_THREAD,
])

export interface FilePorts {
  readonly client: SlackClient & SlackUploads
  readonly clock: Clock
  onOutcome(outcome: CallOutcome): void
}

/**
 * Sends a file in the platform's steps: an address for it, its content, and the message that shares it. Before the last
 * one nobody sees anything, so that whatever ends earlier was not sent, and a file that was left behind is the
 * platform's to forget.
 */
export async function sendFile(ports: FilePorts, part: FilePart, signal: AbortSignal): Promise<DeliveryReceipt> {
  const { address, file, bytes } = part
  const target = toApiTarget(address)
  const visible = stripNoReply(part.rendered)
  if (target === null) return { kind: 'rejected', reason: 'this address is no Slack conversation' }
  if (visible === null) return { kind: 'rejected', reason: 'silent' }
  const filename = sendableName(file.name)
  const call = caller(ports, signal)
  const asked = await call('files.getUploadURLExternal', { filename, length: bytes.length })
  const place = placeOf(asked)
  if (place === undefined) return unsent(asked)
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const uploaded = await ports.client.upload(place.url, data, { signal, deadlineMs: FILE_DEADLINE_MS })
  if (uploaded.kind !== 'answered') return unsent(uploaded)
  failpoint('CP31-file-uploaded')
  const { channel: channel_id, thread_ts } = target
  const caption = content(visible).text
  const sharing = {
    files: [{ id: place.id, title: filename }],
    channel_id,
    ...(caption === '' ? {} : { initial_comment: caption }),
  }
  const share = (more: Fields) =>
    call('files.completeUploadExternal', { ...sharing, ...more }, () => failpoint('CP12-bytes-written'))
  const first = await share(thread_ts === undefined ? {} : { thread_ts })
  const beside = besideThread(part, first)
  const shared = beside ? await share({}) : first
  if (shared.kind !== 'answered') return ofTheFile(toSendReceipt(shared, beside ?? address, address), isOfFile(shared))
  failpoint('CP13-response-read')
  const messageId = (await messageOf(ports, { id: place.id, channel: channel_id }, signal)) ?? place.id
  return { kind: 'sent', messageId, ...(beside ? { address: beside } : {}) }
}

function caller({ client, onOutcome }: FilePorts, signal: AbortSignal) {
  return async (method: SlackMethod, args: Fields, onWritten?: () => void): Promise<CallOutcome> => {
    const options: CallOptions = { signal, deadlineMs: CALL_DEADLINE_MS, ...(onWritten ? { onWritten } : {}) }
    const outcome = await client.call(method, args, options)
    onOutcome(outcome)
    return outcome
  }
}

function placeOf(outcome: CallOutcome): { readonly url: string; readonly id: string } | undefined {
  if (outcome.kind !== 'answered') return undefined
  const { upload_url: url, file_id: id } = outcome.result
  return typeof url === 'string' && parseUrl(url) && typeof id === 'string' ? { url, id } : undefined
}

/** Whatever became of such a step, there is no message yet. */
function unsent(outcome: CallOutcome): DeliveryReceipt {
  if (outcome.kind === 'answered')
    return { kind: 'rejected', reason: 'the answer names no place for the file', of: 'file' }
  if (outcome.kind === 'failed') return { kind: 'not_sent', reason: outcome.reason }
  return isOfFile(outcome) ? refusedFile(outcome) : toReceipt(outcome)
}

/** A scope that is missing keeps back files alone: the text does not wait for it. */
function refusedFile(outcome: Extract<CallOutcome, { kind: 'refused' }>): DeliveryReceipt {
  const receipt = toReceipt(outcome)
  return receipt.kind === 'rejected' ? { kind: 'rejected', reason: receipt.reason, of: 'file' } : receipt
}

function isOfFile(outcome: CallOutcome): boolean {
  if (outcome.kind !== 'refused' || outcome.retryAfterSeconds !== undefined) return false
  return (
    outcome.error === 'missing_scope' ||
    outcome.error === 'http_413' ||
    (toWait(outcome) && !OF_PLACE.has(outcome.error))
  )
}

function toWait(outcome: CallOutcome): boolean {
  const receipt = toReceipt(outcome)
  return receipt.kind === 'rejected' && receipt.retryAfterMs === undefined
}

/** Returns the id of the message that shares a file; undefined where the platform does not say it soon. */
async function messageOf(
  { client, clock }: FilePorts,
  { id, channel }: { readonly id: string; readonly channel: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const ms of LOOKS_MS) {
    if (ms > 0) await sleep(clock, ms, signal)
    const outcome = await client.call('files.info', { file: id }, { signal, deadlineMs: CALL_DEADLINE_MS })
    const ts = outcome.kind === 'answered' ? sharedAs(outcome.result, channel) : undefined
    if (ts !== undefined || outcome.kind !== 'answered' || signal.aborted) return ts
  }
  return undefined
}

function sharedAs({ file }: Fields, channel: string): string | undefined {
  const shares = isFields(file) && isFields(file.shares) ? file.shares : {}
  for (const kind of [shares.public, shares.private]) {
    const there: unknown = isFields(kind) ? kind[channel] : undefined
    const first: unknown = Array.isArray(there) ? there[0] : undefined
    if (isFields(first) && isStamp(first.ts)) return first.ts
  }
  return undefined
}
