import * as z from 'zod'
import { DEFAULT_AUDIO_LIMITS } from '../core/audio.ts'
import { text, url } from './schema-parts.ts'

const MEGABYTE = 1_000_000

/** A server with the two calls of OpenAI's audio API; it may be on this machine. */
export const audio = z
  .strictObject({
    baseUrl: url
      .default('https://api.openai.com/v1')
      .describe('With the path before /audio/…, such as http://127.0.0.1:8000/v1. It may be anywhere.'),
    apiKey: text.exactOptional().describe('Goes to this server alone; one of your own may need none.'),
    transcribe: z
      .strictObject({
        model: text.describe('Such as whisper-1 or gpt-4o-mini-transcribe.'),
        language: z
          .string()
          .regex(/^[a-z]{2,3}$/, { error: 'must be a code of two or three letters, such as de' })
          .exactOptional()
          .describe('The code of the language that is spoken; the server finds out by itself if it is absent.'),
      })
      .exactOptional()
      .describe('Voice notes are transcribed. Without it they are named in words.'),
    speak: z
      .strictObject({
        model: text.describe('Such as gpt-4o-mini-tts or tts-1.'),
        voice: text.default('alloy'),
        format: z
          .enum(['opus', 'mp3', 'wav', 'aac', 'flac'])
          .default('opus')
          .describe('opus is a voice note wherever there are any; what a platform does not play stays a text.'),
      })
      .exactOptional()
      .describe('Answers can be spoken: see agents[].voice and the command /voice.'),
    limits: z
      .strictObject({
        seconds: z.int().min(1).max(55).default(DEFAULT_AUDIO_LIMITS.seconds).describe('The whole of one call.'),
        megabytes: z
          .number()
          .min(0.01)
          .max(DEFAULT_AUDIO_LIMITS.bytes / MEGABYTE)
          .default(DEFAULT_AUDIO_LIMITS.bytes / MEGABYTE)
          .describe('Of a recording that is sent or received.'),
        characters: z
          .int()
          .min(1)
          .max(4_000)
          .default(DEFAULT_AUDIO_LIMITS.characters)
          .describe('The longest answer that is spoken; a longer one stays a text.'),
      })
      .prefault({}),
  })
  .describe('A server that transcribes voice notes and speaks answers, with the audio calls of the OpenAI API.')
