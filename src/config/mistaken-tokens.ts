import type { Channels } from '../core/channel-traits.ts'
import type { ConfigFile } from './schema.ts'

/** A warning for each token that does not look like one of its platform, which would refuse it without saying why. */
export function mistakenTokenWarnings({ channels }: ConfigFile, { platforms, traits }: Channels): string[] {
  return Object.entries(channels).flatMap(([channel, block]) =>
    Object.entries(block?.accounts ?? {}).flatMap(([account, settings]) => {
      const token = tokenOf(settings)
      const looks = (platform: string): boolean => token !== undefined && traits(platform).token?.test(token) === true
      if (token === undefined || traits(channel).token === undefined || looks(channel)) return []
      const path = `channels.${channel}.accounts.${account}.token`
      const other = platforms.find(looks)
      return other === undefined
        ? `${path}: this does not look like a token of ${traits(channel).name}; copy it again, whole`
        : `${path}: this looks like a token of ${other}; put it under channels.${other}, and the one of ${channel} here`
    }),
  )
}

function tokenOf(settings: unknown): string | undefined {
  if (typeof settings !== 'object' || settings === null || !('token' in settings)) return undefined
  return typeof settings.token === 'string' ? settings.token : undefined
}
