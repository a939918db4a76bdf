import type { TextFormat } from '../channels/adapter.ts'
import type { Address } from '../core/address.ts'
import type { Speak } from '../core/audio.ts'
import type { Charge } from '../core/budget.ts'
import type { FileTraits } from '../core/channel-traits.ts'
import { type ErrorCode, errorCode } from '../core/errors.ts'
import type { ChannelId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { MediaStore } from '../core/media.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import { stripSilence } from '../core/silence.ts'

export interface PresentDeps {
  readonly media: Pick<MediaStore, 'keep'>
  readonly logger: Logger
  format(channel: ChannelId): TextFormat
  /** Returns the files that a channel takes; undefined where it takes none. */
  files(channel: ChannelId): FileTraits | undefined
  /** An answer of more messages than this goes out as a file; absent: never. */
  readonly answerAsFile?: number
  /** Absent: nothing is spoken. */
  readonly speak?: Speak
}

export interface Presenting {
  readonly address: Address
  readonly text: string
  /** True if the answer is to be spoken. */
  readonly spoken: boolean
  /** The budgets that the call of the audio endpoint must fit. */
  readonly charge?: Charge | undefined
  readonly signal: AbortSignal
}

export type Presented = Pick<OutboundMessage, 'text'> & Required<Pick<OutboundMessage, 'file'>>

const NAME = 'answer.md'
const VOICE = 'answer'
const FIRST_LINE = 200

/**
 * Returns an answer as a recording or as a file, where it is to be one; undefined where it stays a text, which it does
 * after any failure. Called before the commit that ends the turn, because no commit may wait for a server.
 */
export async function present(deps: PresentDeps, presenting: Presenting): Promise<Presented | undefined> {
  const { address, text, spoken, charge, signal } = presenting
  const { speak, answerAsFile } = deps
  if (answerAsFile === undefined && !(spoken && speak)) return undefined
  const files = deps.files(address.channel)
  const visible = stripSilence(text)
  if (files === undefined || visible.silent || visible.text.trim() === '') return undefined
  const parts = deps.format(address.channel).split(visible.text)
  const [part] = parts
  if (spoken && speak && part !== undefined && parts.length === 1) {
    const voice = await speakSafely(deps, { speak, said: part.plain, files, charge, signal })
    if (voice !== undefined) return { text, file: voice }
  }
  if (answerAsFile === undefined || parts.length <= answerAsFile) return undefined
  return asFile(deps, visible.text, files)
}

interface Speaking {
  readonly speak: Speak
  readonly said: string
  readonly files: FileTraits
  readonly charge: Charge | undefined
  readonly signal: AbortSignal
}

/** The endpoint has sent a recording only if the content is one that the platform plays. */
async function speakSafely(
  { media, logger }: PresentDeps,
  { speak, said, files, charge, signal }: Speaking,
): Promise<Presented['file'] | undefined> {
  try {
    const { bytes } = await speak(said, signal, charge)
    const part = await media.keep(bytes)
    const mime = part.mime.split(';')[0] ?? part.mime
    if (files.voices.includes(mime) && part.size <= files.mostBytes)
      return { media: part.media, mime, size: part.size, name: `${VOICE}.${ENDINGS[mime] ?? 'bin'}`, as: 'voice' }
    logger.warn('An answer stays a text: what was spoken is nothing that is played there', { mime, size: part.size })
  } catch (err) {
    // A text that is too long to be spoken, or too dear, is no failure.
    if (!NO_FAILURES.includes(errorCode(err)) && !signal.aborted)
      logger.warn('An answer stays a text: it could not be spoken', { err })
  }
  return undefined
}

const NO_FAILURES: readonly ErrorCode[] = ['too_long', 'budget_spent']

const ENDINGS: Readonly<Record<string, string>> = {
  'audio/ogg': 'ogg',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/mp4': 'm4a',
}

async function asFile(
  { media, logger }: PresentDeps,
  text: string,
  { mostBytes }: FileTraits,
): Promise<Presented | undefined> {
  try {
    const bytes = Buffer.from(text)
    if (bytes.length > mostBytes) return undefined
    const { media: id, mime, size } = await media.keep(bytes)
    return { text: `${firstLine(text)}\n\n(The whole of it is in the file.)`, file: { media: id, mime, size, ...FILE } }
  } catch (err) {
    logger.warn('A long answer is sent in messages: it could not be kept as a file', { err })
    return undefined
  }
}

const FILE = { name: NAME, as: 'document' } as const

/** Returns the first line without the marks of a heading, shortened at a word. */
function firstLine(text: string): string {
  const line =
    text
      .trim()
      .split('\n', 1)[0]
      ?.replace(/^#+\s*/, '') ?? ''
  if (line.length <= FIRST_LINE) return line
  return `${line
    .slice(0, FIRST_LINE)
    .replace(/\s+\S*$/, '')
    .replace(/[\uD800-\uDBFF]$/, '')} …`
}
