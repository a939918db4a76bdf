import { isOgg, recordingOf, saidInRecording } from '../recordings.ts'
import { readForm } from '../uploads.ts'
import { invalid, missing, wrongType, wrongValue } from './api-error.ts'

const MOST_BYTES = 25 * 1024 * 1024
const MOST_INPUT = 4_096
const FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']
const ENDINGS = ['flac', 'mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'ogg', 'wav', 'webm']
const FIELDS: ReadonlySet<string> = new Set(['file', 'model', 'language', 'prompt', 'response_format', 'temperature'])

/** A recording that is to be transcribed, as the server has read it. */
export interface TranscriptionRequest {
  readonly model: string
  readonly language?: string
  readonly fileName: string
  readonly bytes: Buffer
}

export interface SpeechRequest {
  readonly model: string
  readonly voice: string
  readonly input: string
  readonly response_format: string
}

/** Reads the form of a transcription; the only answer that is rehearsed is JSON. */
export function readTranscription(contentType: string, body: Buffer): TranscriptionRequest {
  const form = readForm(contentType, body)
  if (form === undefined) throw invalid('Could not parse multipart form')
  const unknown = form.find(({ name }) => !FIELDS.has(name))
  if (unknown) throw invalid(`Unknown parameter: '${unknown.name}'.`, unknown.name, 'unknown_parameter')
  const part = (name: string) => form.find((one) => one.name === name)
  const text = (name: string): string | undefined => part(name)?.content.toString()
  const file = part('file')
  if (file?.file === undefined) throw missing('file')
  const [model, language, format = 'json'] = [text('model'), text('language'), text('response_format')]
  if (model === undefined) throw missing('model')
  if (format !== 'json') throw wrongValue('response_format', format, ['json'])
  if (language !== undefined && !/^[a-z]{2,3}$/.test(language)) throw invalid('Invalid language', 'language')
  const ending = file.file.name.split('.').at(-1) ?? ''
  if (!ENDINGS.includes(ending)) throw invalid(`Invalid file format. Supported formats: ${ENDINGS}`, 'file')
  if (file.content.length > MOST_BYTES) throw invalid('Maximum content size limit exceeded', 'file')
  if (!isOgg(file.content) && !isWav(file.content))
    throw invalid('Audio file might be corrupted or unsupported', 'file')
  const named = language === undefined ? {} : { language }
  return { model, ...named, fileName: file.file.name, bytes: file.content }
}

function isWav(bytes: Buffer): boolean {
  return /^RIFF[\s\S]{4}WAVE/.test(bytes.toString('latin1', 0, 12))
}

/** Returns what is said in a recording of the rehearsal; nothing in one of another form. */
export function transcriptOf({ bytes }: TranscriptionRequest): { readonly text: string } {
  return { text: saidInRecording(bytes) ?? '' }
}

export function readSpeech(body: unknown): SpeechRequest {
  if (typeof body !== 'object' || body === null) throw invalid('We could not parse the JSON body of your request.')
  const fields = new Map<string, unknown>(Object.entries(body))
  for (const name of fields.keys())
    if (!['model', 'voice', 'input', 'response_format', 'speed', 'instructions'].includes(name))
      throw invalid(`Unrecognized request argument supplied: ${name}`, name)
  const text = (name: string): string => {
    const value = fields.get(name)
    if (value === undefined) throw missing(name)
    if (typeof value !== 'string') throw wrongType(name, 'a string', value)
    return value
  }
  const [model, voice, input] = [text('model'), text('voice'), text('input')]
  if (input === '') throw invalid('Invalid input: empty string.', 'input')
  if (input.length > MOST_INPUT) throw invalid('String should have at most 4096 characters', 'input')
  const format = fields.has('response_format') ? text('response_format') : 'mp3'
  if (!FORMATS.includes(format)) throw wrongValue('response_format', format, FORMATS)
  return { model, voice, input, response_format: format }
}

/** Speaks as Ogg with Opus; other formats begin as their files do. */
export function speechOf({ input, response_format: format }: SpeechRequest): { type: string; bytes: Buffer } {
  if (format === 'opus') return { type: 'audio/ogg', bytes: recordingOf(input) }
  if (format === 'wav')
    return { type: 'audio/wav', bytes: Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), Buffer.alloc(100)]) }
  return { type: 'audio/mpeg', bytes: Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0'), Buffer.alloc(200)]) }
}
