import { STATUS_CODES } from 'node:http'
import type { Audio, AudioLimits, Heard, SoundFile } from '../core/audio.ts'
import { cutText } from '../core/cut-text.ts'
import { DOORS } from '../core/doors.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import { tokenCount, toUsage, type Usage } from '../core/model.ts'
import { readJson } from '../core/read-json.ts'
import { notTheApi, publicUrl, type SeenAnswer, versionHint } from '../core/wire-error.ts'
import { cameNowhere, type Door, type DoorAnswer, type DoorRequest } from './door.ts'

/** An endpoint with the two calls of OpenAI's audio API. */
export interface AudioEndpoint {
  /** With the path before `/audio/…`. */
  readonly baseUrl: string
  readonly apiKey?: string
  readonly transcribe?: { readonly model: string; readonly language?: string }
  readonly speak?: { readonly model: string; readonly voice: string; readonly format: string }
  readonly limits: AudioLimits
}

/** Characters of a transcript; the rest of a longer one is left out. */
const LONGEST_TRANSCRIPT = 20_000
/** Characters of an answer in which they are looked for: of 20 MB that would stop everything else for two seconds. */
const LOOKED_AT = 3 * LONGEST_TRANSCRIPT
/** The type of each format as the endpoint names formats. */
const TYPES: Readonly<Record<string, string>> = {
  opus: 'audio/ogg',
  mp3: 'audio/mpeg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
}
/** The endpoint goes by the ending of the name. */
const ENDINGS: Readonly<Record<string, string>> = {
  'audio/ogg': 'ogg',
  'audio/opus': 'ogg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'video/mp4': 'mp4',
  'audio/wav': 'wav',
  'audio/webm': 'webm',
  'video/webm': 'webm',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
}

/**
 * Returns the endpoint behind the door. It is the operator's own word, so that its origin may be anywhere, and no
 * redirect of it is followed. The door bounds time and size. What the endpoint says of a failure is not repeated: a
 * server may put into it what it was sent, its key too. Throws `unavailable` for what it has certainly not done, and
 * `unreadable` for what it has done in vain, or may have done: only the latter costs something.
 */
export function createAudio(endpoint: AudioEndpoint, door: Door): Audio {
  const { transcribe, speak, limits } = endpoint
  return {
    ...(transcribe && {
      async transcribe(recording, signal) {
        if (recording.bytes.length > limits.bytes)
          throw new ParleyError('too_long', 'The recording is larger than is transcribed.')
        const form = formOf(recording, transcribe)
        const encoded = new Response(form)
        const type = encoded.headers.get('content-type') ?? ''
        const body = new Uint8Array(await encoded.arrayBuffer())
        const answer = await ask({ endpoint, door }, 'transcriptions', { body, type, signal })
        return readTranscript(answer, endpoint)
      },
    }),
    ...(speak && {
      async speak(input, signal) {
        if (input.length > limits.characters) throw new ParleyError('too_long', 'The text is longer than is spoken.')
        const { model, voice, format } = speak
        const body = JSON.stringify({ model, voice, input, response_format: format })
        const answer = await ask({ endpoint, door }, 'speech', { body, type: 'application/json', signal })
        if (answer.bytes.length === 0)
          throw new ParleyError('unreadable', 'The audio endpoint answered without any sound.')
        if (/^(text|application\/json)\b/i.test(seen(answer).type))
          throw strange({ ...endpoint, call: 'speech' }, 'The audio endpoint answered with no sound.', seen(answer))
        return { bytes: answer.bytes, mime: TYPES[format] ?? 'application/octet-stream' }
      },
    }),
  }
}

function formOf({ bytes, mime }: SoundFile, { model, language }: NonNullable<AudioEndpoint['transcribe']>): FormData {
  const type = mime.split(';')[0] ?? mime
  const form = new FormData()
  form.set('file', new Blob([Uint8Array.from(bytes)], { type }), `recording.${ENDINGS[type] ?? 'bin'}`)
  form.set('model', model)
  form.set('response_format', 'json')
  if (language !== undefined) form.set('language', language)
  return form
}

interface Call {
  readonly body: string | Uint8Array
  readonly type: string
  readonly signal: AbortSignal
}

type Answer = Extract<DoorAnswer, { kind: 'answer' }>

async function ask(
  { endpoint, door }: { readonly endpoint: AudioEndpoint; readonly door: Door },
  call: AudioCall['call'],
  { body, type, signal }: Call,
): Promise<Answer> {
  const { baseUrl, apiKey } = endpoint
  const headers = { 'content-type': type, ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) }
  const request: DoorRequest = { method: 'POST', body, headers, signal, configured: true, follow: false }
  const url = `${baseUrl.replace(/\/+$/, '')}/audio/${call}`
  const of = { baseUrl, call }
  const answer = await door.ask(url, request).catch((error: unknown) => unanswered(error, of))
  if (answer.kind === 'redirect') throw redirected(new Error(`audio.baseUrl redirects to ${answer.to.origin}`))
  if (answer.status < 200 || answer.status > 299) throw refused(of, answer.status)
  if (answer.cut) throw new ParleyError('unreadable', 'The audio endpoint answered with more than is taken.')
  return answer
}

/** A minute counts as the prices take it (`core/prices.ts`). */
const TOKENS_A_MINUTE = 1_000

function readTranscript(answer: Answer, { baseUrl }: AudioEndpoint): Heard {
  const { text, usage } = answerIn(answer.bytes)
  if (text === undefined) throw strange({ baseUrl, call: 'transcriptions' }, NO_TRANSCRIPT, seen(answer))
  const said = text.slice(0, LOOKED_AT).replace(/\s+/g, ' ').trim()
  if (said === '') throw new ParleyError('unreadable', 'The audio endpoint heard no words.')
  const words = cutText(said, LONGEST_TRANSCRIPT)
  return { said: words, ...(usage ? { usage } : {}) }
}

const NO_TRANSCRIPT = 'The audio endpoint answered with something that is no transcript.'

function seen({ status, headers }: Answer): SeenAnswer {
  return { status, type: headers['content-type'] ?? '' }
}

function answerIn(bytes: Uint8Array): { readonly text?: string; readonly usage?: Usage | undefined } {
  try {
    const answer = readJson(bytes, DOORS.audio)
    if (typeof answer !== 'object' || answer === null || !('text' in answer) || typeof answer.text !== 'string')
      return {}
    return { text: answer.text, usage: 'usage' in answer ? usageIn(answer.usage) : undefined }
  } catch {
    return {}
  }
}

/** Reads tokens or seconds, whichever a server counts; undefined for what is neither. */
function usageIn(given: unknown): Usage | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const seconds = 'seconds' in given && typeof given.seconds === 'number' ? given.seconds : 0
  // For what is no number of tokens the estimate counts.
  const heard = tokenCount(Math.ceil((seconds / 60) * TOKENS_A_MINUTE))
  if (heard > 0) return { input: heard, output: 0 }
  const input = 'input_tokens' in given ? given.input_tokens : 0
  const output = 'output_tokens' in given ? given.output_tokens : 0
  const usage = toUsage({ input: Number(input), output: Number(output), cacheRead: 0, cacheWrite: 0 })
  return usage.input === 0 ? undefined : usage
}

/** A call of the endpoint. */
interface AudioCall {
  readonly baseUrl: string
  readonly call: 'transcriptions' | 'speech'
}

/*
 * People and the model read the words of these errors, and the place of the endpoint is none of theirs. The log has
 * that, with the setting to look at, by the cause.
 */

/** Throws for a call without an answer. The endpoint may have worked for one that was late or broke off. */
function unanswered(error: unknown, { baseUrl }: AudioCall): never {
  const cause = toError(error)
  if (errorCode(error) === 'forbidden') throw redirected(cause)
  if (errorCode(error) !== 'unavailable') throw error
  if (cameNowhere(cause)) throw new ParleyError('unavailable', 'The audio endpoint cannot be reached.', { cause })
  const words = cause.message.replaceAll(new URL(baseUrl).host, 'the audio endpoint').replace(/^t/, 'T')
  throw new ParleyError('unreadable', words, { cause })
}

function redirected(cause: Error): ParleyError {
  return new ParleyError('unavailable', 'The audio endpoint redirects elsewhere, which is not followed.', { cause })
}

/** The body is left out: it may hold what was sent, the key too. */
function refused(of: AudioCall, status: number): ParleyError {
  const words = STATUS_CODES[status]
  const said = `The audio endpoint answered ${status}${words ? ` (${words})` : ''}.`
  const cause = new Error(`${named(of)} was answered ${status}${remedyFor(of, status)}`)
  return new ParleyError('unavailable', said, { cause })
}

/** Returns what to throw where the answer is of another kind than the call has. */
function strange(of: AudioCall, words: string, answer: SeenAnswer): ParleyError {
  const wire = { call: callOf(of), at: publicUrl(of.baseUrl), api: 'the audio API of OpenAI', setting: 'audio.baseUrl' }
  const cause = new Error(`${notTheApi(wire, answer)}${versionHint(of.baseUrl)}`)
  return new ParleyError('unreadable', words, { cause })
}

function remedyFor({ baseUrl, call }: AudioCall, status: number): string {
  const model = `audio.${call === 'speech' ? 'speak' : 'transcribe'}`
  if (status === 401 || status === 403) return ': check audio.apiKey'
  if (status === 404 || status === 405) return `: check ${model}.model, and audio.baseUrl${versionHint(baseUrl)}`
  return status === 400 || status === 422 ? `: check ${model}` : ''
}

function named(of: AudioCall): string {
  return `${callOf(of)} at ${publicUrl(of.baseUrl)}`
}

function callOf({ call }: AudioCall): string {
  return `POST /audio/${call}`
}
