import type { AudioSettings } from './config.ts'
import type { Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'
import { Secret } from './secrets.ts'

const MEGABYTE = 1_000_000

/** Builds the settings of the audio endpoint; undefined where there is none. */
export function buildAudio({ audio }: ConfigFile): AudioSettings | undefined {
  if (audio === undefined) return undefined
  const { apiKey, limits, ...settings } = audio
  const { seconds, megabytes, characters } = limits
  return {
    ...settings,
    ...(apiKey === undefined ? {} : { apiKey: new Secret(apiKey) }),
    limits: { seconds, bytes: Math.floor(megabytes * MEGABYTE), characters },
  }
}

export function audioMistakes({ audio }: ConfigFile): Mistake[] {
  if (audio === undefined) return []
  const { username, password, pathname } = new URL(audio.baseUrl)
  if (username + password !== '')
    return [{ path: ['audio', 'baseUrl'], message: 'audio.baseUrl: must have no name or password in it; use apiKey' }]
  if (/\/audio(\/|$)/.test(pathname))
    return [
      { path: ['audio', 'baseUrl'], message: 'audio.baseUrl: ends before /audio; take that out and what follows' },
    ]
  if (audio.transcribe !== undefined || audio.speak !== undefined) return []
  return [{ path: ['audio'], message: 'audio: needs transcribe, speak or both; without them nothing is asked of it' }]
}

/** OpenAI's own server answers nobody without a key, and that of `models` goes to no other server. */
export function audioKeyWarnings({ audio }: ConfigFile): readonly string[] {
  if (audio === undefined || audio.apiKey !== undefined) return []
  const { host } = new URL(audio.baseUrl)
  if (host !== 'api.openai.com') return []
  return [`audio.apiKey: is not set, and ${host} answers nobody without one; write \${env:OPENAI_API_KEY}`]
}

/** Returns a warning for each agent that would speak, and has nothing to speak with. */
export function voiceWarnings({ agents, audio }: ConfigFile): readonly string[] {
  if (audio?.speak !== undefined) return []
  return agents.flatMap(({ voice = 'never' }, index) =>
    voice === 'never' ? [] : [`agents[${index}].voice: has no effect without audio.speak; set that, or take it out`],
  )
}
