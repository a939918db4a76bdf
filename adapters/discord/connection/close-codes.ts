import { ChannelDown } from '../../../src/channels/adapter.ts'

export const TOKEN_REFUSED =
  'Discord refuses the token: it was reset or mistyped; Developer Portal → Bot → Reset Token gives a new one'

/** Only a person can mend these (docs, Gateway Close Event Codes); the client does not try again after them. */
const FINAL: Readonly<Record<number, string>> = {
  4004: TOKEN_REFUSED,
  4010: 'Discord refuses the shard that was asked for',
  4011: 'Discord wants this bot sharded: it is in more guilds than one connection may serve',
  4012: 'Discord no longer speaks this version of its gateway',
  4013: 'Discord does not know the intents that were asked for',
  4014: 'Message Content intent is off: Developer Portal → Bot → Privileged Gateway Intents',
}

/** Returns the account's state after a connection ended for good. */
export function downAfter(code: number): ChannelDown {
  const known = FINAL[code]
  return known === undefined
    ? new ChannelDown(`Discord closed the connection: ${code}`, { permanent: false })
    : new ChannelDown(known, { permanent: true })
}
