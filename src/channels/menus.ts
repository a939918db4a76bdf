import type { ChatCommand } from '../core/command.ts'
import type { AccountId, ChannelId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { ChannelAdapter } from './adapter.ts'
import { registersCommands } from './capabilities.ts'

export interface MenuDeps {
  readonly logger: Logger
  readonly commands: readonly ChatCommand[]
  /** Platform ids of the owners there, as they are now. */
  owners(channel: ChannelId): Promise<readonly string[]>
}

/** Hands the commands to a platform that has come up. A menu that is not taken keeps nothing from working. */
export function registerMenu(
  { logger, commands, owners }: MenuDeps,
  adapter: ChannelAdapter,
  { channel, account }: { readonly channel: ChannelId; readonly account: AccountId },
): void {
  if (!registersCommands(adapter)) return
  owners(channel)
    .then((ids) => adapter.registerCommands(commands, ids))
    .catch((err: unknown) => logger.warn('The command menu was not registered', { err, channel, account }))
}
