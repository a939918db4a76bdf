import type { ChannelId } from '../core/ids.ts'
import type { ConfigFile } from './schema.ts'

/** What the tokens of each platform look like, closely enough to tell them from those of another. */
const LOOKS: Readonly<Partial<Record<ChannelId, RegExp>>> = {
  telegram: /^\d{5,}:[\w-]{20,}$/,
  discord: /^(?:Bot\s+)?[\w-]{18,}\.[\w-]{4,}\.[\w-]{20,}$/,
  slack: /^x(?:ox[a-z]|app)-/,
}

/** A warning for each token that looks like one of another platform, which would refuse it without saying why. */
export function mistakenTokenWarnings({ channels }: ConfigFile): string[] {
  return Object.entries(channels).flatMap(([channel, block]) =>
    Object.entries(block?.accounts ?? {}).flatMap(([account, settings]) => {
      const other = platformOf(settings)
      if (other === undefined || other === channel) return []
      const path = `channels.${channel}.accounts.${account}.token`
      return `${path}: this looks like a token of ${other}; put it under channels.${other}, and the one of ${channel} here`
    }),
  )
}

function platformOf(settings: unknown): string | undefined {
  if (typeof settings !== 'object' || settings === null || !('token' in settings)) return undefined
  const { token } = settings
  return typeof token === 'string' ? Object.entries(LOOKS).find(([, look]) => look.test(token))?.[0] : undefined
}
