import type { DownAccount } from './config.ts'
import { formatPath, type Mistake } from './mistake.ts'
import type { Resolved } from './references.ts'

export interface SetAside {
  /** The configuration without those accounts, and without channels that have no other. */
  readonly value: unknown
  readonly mistakes: readonly Mistake[]
  readonly down: readonly DownAccount[]
}

/**
 * An account whose secret cannot be had now (a variable that is not set, a file that is not there) is no reason not to
 * start: its channel is down with the reason, and the others run.
 */
export function setAsideAccounts({ value, mistakes }: Resolved): SetAside {
  const down = mistakes.flatMap(toDownAccount)
  const tree = structuredClone(value)
  for (const { channel, account } of down) removeAccount(tree, channel, account)
  return { value: tree, mistakes: mistakes.filter((mistake) => toDownAccount(mistake).length === 0), down }
}

function toDownAccount({ path, message, missing }: Mistake): DownAccount[] {
  const [channels, channel, accounts, account] = path
  if (!missing || channels !== 'channels' || accounts !== 'accounts' || account === undefined) return []
  const reason = message.slice(`${formatPath(path)}: `.length)
  return [{ channel: String(channel), account: String(account), reason: `${String(path.at(-1))}: ${reason}` }]
}

function removeAccount(tree: unknown, channel: string, account: string): void {
  const { channels } = tree as { channels: Record<string, { accounts: Record<string, unknown> } | undefined> }
  const block = channels[channel]
  if (!block) return
  delete block.accounts[account]
  if (Object.keys(block.accounts).length === 0) delete channels[channel]
}
