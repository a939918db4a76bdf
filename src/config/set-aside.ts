import type { DownAccount } from './config.ts'
import { formatPath, type Mistake } from './mistake.ts'
import { isStoreKey, type Resolved } from './references.ts'

/** The servers of models whose key is named and cannot be had now, each with the reason. */
export type Keyless = ReadonlyMap<string, string>

export interface Usable {
  /** The configuration without those accounts, and without channels that have no other. */
  readonly value: unknown
  readonly mistakes: readonly Mistake[]
  readonly down: readonly DownAccount[]
  /** One for each server of models whose key cannot be had now. */
  readonly warnings: readonly string[]
  /** The names of those servers, each with the reason; their blocks are there without the key. */
  readonly keyless: Keyless
  /** Why the key of the store cannot be had now; it stays a mistake. */
  readonly keyAbsent: string | undefined
}

/**
 * An account whose secret cannot be had now (a variable that is not set, a file that is not there) is no reason not to
 * start: its channel is down with the reason, and the others run. Likewise for the key of a model: its agents cannot
 * answer.
 */
export function setAside({ value, mistakes }: Resolved): Usable {
  const down = joined(mistakes.flatMap(toDownAccount))
  const tree = structuredClone(value)
  for (const { channel, account } of down) removeAccount(tree, channel, account)
  for (const channel of new Set(down.map((one) => one.channel))) removeIfEmpty(tree, channel)
  const keyless = keylessOf(mistakes)
  for (const server of keyless.keys()) removeKey(tree, server)
  const keyAbsent = mistakes.find(({ path, missing }) => missing === true && isStoreKey(path))?.message
  if (keyAbsent !== undefined) delete (tree as { store: { key?: unknown } }).store.key
  const warnings = [...keyless].map(([server, why]) => `${why}; agents on models of ${server} cannot answer`)
  const left = mistakes.filter((mistake) => toDownAccount(mistake).length === 0 && !isModelKey(mistake))
  return { value: tree, mistakes: left, down, warnings, keyless, keyAbsent }
}

function isModelKey({ path, missing }: Mistake): boolean {
  return missing === true && path[0] === 'models' && path[2] === 'apiKey'
}

/** Returns each server once: a key may be put together of several references. */
function keylessOf(mistakes: readonly Mistake[]): Keyless {
  const keyless = new Map<string, string>()
  for (const { path, message } of mistakes.filter(isModelKey)) {
    const server = String(path[1])
    const known = keyless.get(server)
    keyless.set(server, known === undefined ? message : `${known}; ${message}`)
  }
  return keyless
}

function removeKey(tree: unknown, server: string): void {
  const { models } = tree as { models: Record<string, { apiKey?: unknown }> }
  delete models[server]?.apiKey
}

function toDownAccount({ path, message, missing }: Mistake): DownAccount[] {
  const [channels, channel, accounts, account] = path
  if (!missing || channels !== 'channels' || accounts !== 'accounts' || account === undefined) return []
  const reason = message.slice(`${formatPath(path)}: `.length)
  return [{ channel: String(channel), account: String(account), reason: `${String(path.at(-1))}: ${reason}` }]
}

/** Returns each account once, with all that it lacks. */
function joined(all: readonly DownAccount[]): DownAccount[] {
  const byAccount = new Map<string, DownAccount>()
  for (const one of all) {
    const key = `${one.channel}@${one.account}`
    const known = byAccount.get(key)
    byAccount.set(key, known ? { ...known, reason: `${known.reason}; ${one.reason}` } : one)
  }
  return [...byAccount.values()]
}

function removeAccount(tree: unknown, channel: string, account: string): void {
  delete channelsOf(tree)[channel]?.accounts[account]
}

function removeIfEmpty(tree: unknown, channel: string): void {
  const channels = channelsOf(tree)
  if (Object.keys(channels[channel]?.accounts ?? {}).length === 0) delete channels[channel]
}

function channelsOf(tree: unknown): Record<string, { readonly accounts: Record<string, unknown> } | undefined> {
  return (tree as { channels: ReturnType<typeof channelsOf> }).channels
}
