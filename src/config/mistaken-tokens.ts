import type { Channels } from '../core/channel-traits.ts'
import type { ConfigFile } from './schema.ts'

/** A warning for each token that looks like one of another platform, which would refuse it without saying why. */
export function mistakenTokenWarnings({ channels }: ConfigFile, known: Channels): string[] {
  return Object.entries(channels).flatMap(([channel, block]) =>
    Object.entries(block?.accounts ?? {}).flatMap(([account, settings]) => {
      const other = platformOf(settings, known)
      if (other === undefined || other === channel) return []
      const path = `channels.${channel}.accounts.${account}.token`
      return `${path}: this looks like a token of ${other}; put it under channels.${other}, and the one of ${channel} here`
    }),
  )
}

function platformOf(settings: unknown, { platforms, traits }: Channels): string | undefined {
  if (typeof settings !== 'object' || settings === null || !('token' in settings)) return undefined
  const { token } = settings
  return typeof token === 'string' ? platforms.find((channel) => traits(channel).token?.test(token)) : undefined
}
