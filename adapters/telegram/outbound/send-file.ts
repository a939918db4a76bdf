import type { FilePart } from '../../../src/channels/capabilities.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import { sendableName } from '../../../src/core/sendable-name.ts'
import { FILE_DEADLINE_MS, ofTheFile } from '../../shared/files.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { toApiId, toApiTarget } from '../address.ts'
import type { CallOptions, CallOutcome, TelegramClient } from '../connection/client.ts'
import { type Draft, mend, placeOf, toSendReceipt } from './receipts.ts'

/** The way in which a file is tried. */
type As = FilePart['file']['as']

/** Pictures that Telegram does not show, by their size or their content, are sent as documents. */
const NO_PICTURE = /PHOTO_|IMAGE_PROCESS_FAILED|photo/i
/** The refusals that concern the file or what may be sent in the chat besides text, not the chat itself. */
const OF_FILE = /file|photo|document|voice|audio|media|too (?:big|large)|entity/i

interface FileDraft extends Draft {
  readonly as: As
}

/**
 * Sends a file by the method of its kind. A refusal over mere form is mended once, as for texts; a picture that is
 * refused is sent as a document.
 */
export async function sendFile(
  { client, clock }: { readonly client: TelegramClient; readonly clock: Clock },
  { address, rendered, replyTo, file, bytes }: FilePart,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const visible = stripNoReply(rendered)
  if (toApiTarget(address) === null) return { kind: 'rejected', reason: 'this address is no Telegram chat' }
  if (visible === null) return { kind: 'rejected', reason: 'silent' }
  const source = {
    source: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    filename: sendableName(file.name),
  }
  const until = clock.elapsed() + FILE_DEADLINE_MS
  const reply = replyTo === undefined || address.chatType === 'direct' ? null : toApiId(replyTo)
  const begun: FileDraft = { rendered: visible, address, reply, as: file.as }
  let draft = begun
  for (;;) {
    const options = { signal, deadlineMs: until - clock.elapsed(), onWritten }
    const outcome = await call(client, fieldsOf(draft), { source, as: draft.as, options })
    if (outcome.kind === 'answered') failpoint('CP13-response-read')
    const mended = mendFile(draft, outcome)
    if (mended === null) return ofTheFile(toSendReceipt(outcome, draft, begun), isOfFile(outcome))
    draft = mended
  }
}

/** A crash may hit right after the bytes of such a call left. */
function onWritten(): void {
  failpoint('CP12-bytes-written')
}

interface Upload {
  readonly source: { readonly source: Buffer; readonly filename: string }
  readonly as: As
  readonly options: CallOptions
}

function call(
  client: TelegramClient,
  fields: { readonly chat_id: string },
  { source, as, options }: Upload,
): Promise<CallOutcome> {
  switch (as) {
    case 'picture':
      return client.call('sendPhoto', { ...fields, photo: source }, options)
    case 'voice':
      return client.call('sendVoice', { ...fields, voice: source }, options)
    case 'document':
      return client.call('sendDocument', { ...fields, document: source, disable_content_type_detection: true }, options)
  }
}

/** In a form, the client sends structured values only as text, and drops others unsaid. */
function fieldsOf(draft: FileDraft) {
  const { text, plain, markup, silent } = draft.rendered
  const { reply_parameters: above, ...place } = placeOf(draft)
  const caption = markup === 'html' ? { caption: text, parse_mode: 'HTML' } : { caption: plain }
  return {
    ...place,
    ...(plain === '' ? {} : caption),
    ...(silent ? { disable_notification: 'true' } : {}),
    ...(above === undefined ? {} : { reply_parameters: JSON.stringify(above) }),
  }
}

function mendFile(draft: FileDraft, outcome: CallOutcome): FileDraft | null {
  const mended = mend(draft, outcome)
  if (mended !== null) return { ...mended, as: draft.as }
  const refused = outcome.kind === 'refused' && outcome.code === 400 && NO_PICTURE.test(outcome.description)
  return refused && draft.as === 'picture' ? { ...draft, as: 'document' } : null
}

function isOfFile(outcome: CallOutcome): boolean {
  return outcome.kind === 'refused' && (outcome.code === 413 || OF_FILE.test(outcome.description))
}
