import { STATUS_CODES } from 'node:http'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import { notTheApi, publicUrl, type SeenAnswer, versionHint } from '../core/wire-error.ts'
import { cameNowhere } from './door-errors.ts'

/** A call of the endpoint. */
export interface AudioCall {
  readonly baseUrl: string
  readonly call: 'transcriptions' | 'speech'
}

/*
 * People and the model read the words of these errors, and the place of the endpoint is none of theirs. The log has
 * that, with the setting to look at, by the cause.
 */

/** Throws for a call without an answer. The endpoint may have worked for one that was late or broke off. */
export function unanswered(error: unknown, { baseUrl }: AudioCall): never {
  const cause = toError(error)
  if (errorCode(error) === 'forbidden') throw redirected(cause)
  if (errorCode(error) !== 'unavailable') throw error
  if (cameNowhere(cause)) throw new ParleyError('unavailable', 'The audio endpoint cannot be reached.', { cause })
  const words = cause.message.replaceAll(new URL(baseUrl).host, 'the audio endpoint').replace(/^t/, 'T')
  throw new ParleyError('unreadable', words, { cause })
}

export function redirected(cause: Error): ParleyError {
  return new ParleyError('unavailable', 'The audio endpoint redirects elsewhere, which is not followed.', { cause })
}

/** The body is left out: it may hold what was sent, the key too. */
export function refused(of: AudioCall, status: number): ParleyError {
  const words = STATUS_CODES[status]
  const said = `The audio endpoint answered ${status}${words ? ` (${words})` : ''}.`
  const cause = new Error(`${named(of)} was answered ${status}${remedyFor(of, status)}`)
  return new ParleyError('unavailable', said, { cause })
}

/** Returns what to throw where the answer is of another kind than the call has. */
export function strange(of: AudioCall, words: string, answer: SeenAnswer): ParleyError {
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
