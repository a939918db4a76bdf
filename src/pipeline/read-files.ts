import { type Address, addressNamed, formatAddress } from '../core/address.ts'
import type { Hear } from '../core/audio.ts'
import type { Charge } from '../core/budget.ts'
import { type Clock, sleep, within } from '../core/clock.ts'
import { sizeInWords } from '../core/content-words.ts'
import { failpoint } from '../core/failpoint.ts'
import type { BeforeSave } from '../core/hook.ts'
import type { MediaId, SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { FetchedFile, FileLimits, ReadArrived } from '../core/media.ts'
import type { AttachmentRef, FileKind, FileReading, ReadFile } from '../core/message.ts'
import { senderKey } from '../core/platform-id.ts'
import { isOwnVoice } from '../core/spoken.ts'
import { recordFiles } from '../sessions/turns/record-turn.ts'
import { SUSPENDED } from '../sessions/turns/running-turns.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { type RunningTurn, type UnreadFile, unreadFiles } from '../sessions/view/running-turn-view.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import type { FileAllowance } from './file-allowance.ts'

/** Returns the budgets that the calls of a turn must fit; they are looked up anew once somebody has joined it. */
export type ChargeTurn = (turn: StartedTurn, joined?: 'joined') => Promise<Charge | undefined>

export interface FilesDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly transcript: Pick<Transcript, 'view' | 'shown'>
  readonly files: {
    readonly limits: FileLimits
    readonly allowance: FileAllowance
    /** Never rejects; undefined while the platform cannot be asked. */
    fetch(file: AskedFile, signal: AbortSignal): Promise<FetchedFile | undefined>
    readonly read: ReadArrived
    /** Deletes what was kept of files that no event will name, with their transcripts. */
    drop(ids: readonly MediaId[]): Promise<void>
    /** Absent: nothing is transcribed. */
    readonly hear?: Hear
    /** Returns a text without the values of configured secrets. */
    redact(this: void, text: string): string
    /** Returns the text that is stored of what was read (R8); absent: all of it. */
    readonly beforeSave?: (this: void, text: BeforeSave) => Promise<string>
  }
  /** Returns what the transcription of a recording is charged to, whoever else has asked in the turn. */
  chargeRecording(this: void, turn: StartedTurn, message: UnreadFile['message']): Promise<Charge | undefined>
  /** Called with the texts that were read: a one-time code in them is worth nothing any more. */
  overheard(payload: unknown): void
}

/** People wait for their answer meanwhile; all files of a turn together. */
const LONGEST_MS = 60_000
const AT_ONCE = 3

/**
 * Fetches the files of the turn's messages, and commits what became of each: what the model is shown of it, or the
 * reason why nothing. A crash before the commit fetches them again; afterwards every prompt shows the same.
 */
export async function readFiles(deps: FilesDeps, turn: StartedTurn, signal: AbortSignal): Promise<void> {
  const { transcript, store } = deps
  const view = await transcript.view(turn.session, turn.id)
  const isOfChannel = view.threadRead === 'channel'
  const before = isOfChannel ? await store.read.forgetting.removals() : 0
  const { running } = isOfChannel ? await transcript.shown(turn.session, turn.id) : view
  const wanted = running === undefined ? [] : wantedOf(running, deps.files.limits)
  if (wanted.length === 0) return
  const late = new AbortController()
  const both = AbortSignal.any([signal, late.signal])
  const files: ReadFile[] = []
  const places = wanted.map((one, index) => ({ ...one, index }))
  const work = Array.from({ length: AT_ONCE }, async () => {
    for (let one = places.shift(); one !== undefined && !both.aborted; one = places.shift())
      files[one.index] = { ref: one.file.ref, ...(await readOne(deps, turn, one, both)) }
  })
  const all = Promise.all(work)
  if (!(await within(deps.clock, LONGEST_MS, all))) {
    late.abort()
    await all
  }
  if (signal.aborted) return letGo(deps, files, signal)
  const read = wanted.map(({ file: { ref } }, index) => files[index] ?? { ref, unread: TOO_LONG })
  failpoint('CP29-files-fetched')
  deps.overheard(read.map(({ text, spoken }) => text ?? spoken))
  const stored = await asStored(deps, turn, { wanted, read })
  if (signal.aborted) return letGo(deps, files, signal)
  const lost = await deps.store.write((tx) => record(tx, turn, deps.clock.now(), { wanted, read: stored, before }))
  if (lost.length > 0) await deps.files.drop(lost.flatMap(({ media }) => media?.media ?? []))
  failpoint('CP30-files-recorded')
  // The turn has begun, so nothing else would look for it.
  await deps.transcript.view(turn.session)
}

/** No more is read than fits of what is shown by reference: it may be read yet where it was sent. */
function wantedOf(running: RunningTurn, { maxFilesPerPrompt }: FileLimits): readonly UnreadFile[] {
  return unreadFiles(running).filter(
    ({ message }, index) => message.elsewhere === undefined || index < maxFilesPerPrompt,
  )
}

/**
 * Commits what became of files, each in the log that has its message, for there it is forgotten. Returns those of which
 * the log may have lost the message meanwhile.
 */
async function record(
  tx: StoreWriter,
  turn: StartedTurn,
  at: number,
  { wanted, read, before }: ReadOfTurn & { readonly before: number },
): Promise<readonly ReadFile[]> {
  const logs = [...new Set(wanted.flatMap(({ message }) => message.elsewhere ?? []))]
  const isLost = logs.length > 0 && (await tx.forgetting.hasRemovedSince(before, logs))
  const filesOf = (log?: SessionId): readonly ReadFile[] =>
    read.filter((_file, index) => wanted[index]?.message.elsewhere === log)
  await recordFiles(tx, turn, at, { files: filesOf() })
  if (isLost) return logs.flatMap(filesOf)
  for (const log of logs) await recordFiles(tx, turn, at, { files: filesOf(log), elsewhere: log })
  return []
}

/** Nothing knows the files of a turn that was stopped: who forgets its message would leave them here. */
async function letGo({ files: { drop } }: FilesDeps, read: readonly ReadFile[], signal: AbortSignal): Promise<void> {
  // The next start continues such a turn with the transcripts that there are.
  if (signal.reason !== SUSPENDED) await drop(read.flatMap(({ media }) => media?.media ?? []))
}

const TOO_LONG = 'it took too long to fetch it'

interface ReadOfTurn {
  readonly wanted: readonly UnreadFile[]
  /** The outcome for each of them. */
  readonly read: readonly ReadFile[]
}

/** Returns what was read with the texts that are stored, which are those that the operator's hooks have left. */
async function asStored(
  { files: { beforeSave } }: FilesDeps,
  turn: StartedTurn,
  { wanted, read }: ReadOfTurn,
): Promise<readonly ReadFile[]> {
  if (beforeSave === undefined) return read
  const stored: ReadFile[] = []
  for (const [at, file] of read.entries()) {
    const { text, spoken } = file
    const message = wanted[at]?.message
    const said = spoken ?? text
    if (said === undefined || said === '' || message === undefined) {
      stored.push(file)
      continue
    }
    const of = isRecording(wanted[at]?.file.kind) ? 'recording' : 'file'
    const left = await beforeSave({ ...askedAbout(turn, message), of, text: said })
    stored.push({ ...file, ...(spoken === undefined ? { text: left } : { spoken: left }) })
  }
  return stored
}

function askedAbout({ reply }: StartedTurn, { chat, sender }: UnreadFile['message']): Omit<BeforeSave, 'text'> {
  const { id, displayName: name } = sender
  return {
    ...{ on: 'before_save', conversation: chat ?? formatAddress(reply.address), edit: false },
    sender: { id, ...(name === undefined ? {} : { name }) },
  }
}

type Wanted = UnreadFile & { readonly index: number }

async function readOne(
  { files, clock, logger, chargeRecording }: FilesDeps,
  turn: StartedTurn,
  { file, message, index }: Wanted,
  signal: AbortSignal,
): Promise<FileReading> {
  const { limits, allowance } = files
  const address = message.chat === undefined ? turn.reply.address : addressNamed(message.chat)
  if (address === undefined) return { unread: 'nothing says in which chat it was sent' }
  const { ref, kind, size = 0 } = file
  const unread = neverShown(kind, files)
  if (unread !== undefined) return { unread }
  if (size > limits.maxBytes) return { unread: tooLarge(limits.maxBytes) }
  if (index >= limits.maxFilesPerPrompt)
    return { unread: `no more than ${limits.maxFilesPerPrompt} files are read at a time` }
  const person = message.person ?? senderKey(address.channel, message.sender)
  if (!allowance.mayFetch(person)) return { unread: `its sender has sent ${sizeInWords(limits.perPersonPerDay)} today` }
  const fetched = await fetchPatiently({ files, clock }, { address, ref, most: limits.maxBytes }, signal)
  if (signal.aborted) return { unread: TOO_LONG }
  if (fetched.kind !== 'fetched') {
    if (fetched.kind === 'failed') logger.warn('A file could not be fetched', { reason: fetched.reason })
    return { unread: fetched.kind === 'refused' ? fetched.reason : 'the platform did not give it' }
  }
  const { bytes } = fetched
  allowance.fetched(person, bytes.length)
  const name = file.fileName ?? ''
  const reading = await files.read({ bytes, name, kind }, limits.maxCharacters, signal)
  const own = isOwnVoice(file, message)
  const charge = isRecording(kind) ? await chargeRecording(turn, message) : undefined
  return shownOf(files, { reading, bytes, file, own, charge }, signal)
}

async function shownOf(
  { hear, redact }: FilesDeps['files'],
  { file: { kind }, ...of }: Recorded & { readonly file: AttachmentRef },
  signal: AbortSignal,
): Promise<FileReading> {
  const { reading } = of
  if (hear && isRecording(kind)) return heard({ hear, redact }, of, signal)
  return reading.text === undefined ? reading : { ...reading, text: redact(reading.text) }
}

interface Recorded {
  readonly reading: FileReading
  readonly bytes: Uint8Array
  /** True if its sender is the one who speaks in it. */
  readonly own: boolean
  /** The budgets that its transcription must fit. */
  readonly charge: Charge | undefined
}

/**
 * Returns a recording with what is said in it: the words of whoever sent it, if they have spoken it, else nobody's. A
 * file that is no recording by its content is read as any other.
 */
async function heard(
  { hear, redact }: Pick<FilesDeps['files'], 'redact'> & { readonly hear: Hear },
  { reading, bytes, own, charge }: Recorded,
  signal: AbortSignal,
): Promise<FileReading> {
  const { media } = reading
  if (media === undefined || !/^(?:audio|video)\//.test(media.mime)) return reading
  const outcome = await hear({ id: media.media, bytes, mime: media.mime }, signal, charge)
  if ('unheard' in outcome) return { media, unread: outcome.unheard }
  const said = redact(outcome.said)
  return own ? { media, spoken: said } : { media, text: said }
}

function isRecording(kind: FileKind | undefined): boolean {
  return kind === 'voice' || kind === 'audio'
}

/** Returns why a file is not shown whatever is in it. */
function neverShown(kind: FileKind | undefined, { hear }: FilesDeps['files']): string | undefined {
  return kind === undefined || (hear && isRecording(kind)) ? undefined : NOT_SHOWN[kind]
}

/** The kinds of which no model is shown anything, whatever is in the file. */
const NOT_SHOWN: Partial<Record<string, string>> = {
  video: 'a video',
  animation: 'it moves',
  audio: 'a recording',
  voice: 'a recording',
}

function tooLarge(most: number): string {
  return `larger than ${sizeInWords(most)}`
}

/** A file as it is asked for, where it came. */
interface AskedFile {
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
