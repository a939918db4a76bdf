import type { ChatCommand } from '../core/command.ts'
import type { AccountId, ChannelId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { ChannelAdapter } from './adapter.ts'
import { type RegistersCommands, registersCommands } from './capabilities.ts'

export interface MenuDeps {
  readonly logger: Logger
  readonly commands: readonly ChatCommand[]
  readonly access: { readonly ownerKnown: boolean }
  /** Platform ids of the owners there, as they are now. */
  owners(channel: ChannelId): Promise<readonly string[]>
  /** True once the daemon stops, which ends the channels under a menu that is being handed over. */
  stopping(): boolean
}

/** Hands the commands to the platforms. A menu that is not taken keeps nothing from working. */
export interface Menus {
  /** A channel came up. */
  register(adapter: ChannelAdapter, place: MenuPlace): void
  /** Called when the owners may have changed: notifies the channels that are up, one after the other. */
  again(): void
}

interface MenuPlace {
  readonly channel: ChannelId
  readonly account: AccountId
}

export function createMenus({ logger, commands, access, owners, stopping }: MenuDeps): Menus {
  const work = new Map<RegistersCommands, { readonly place: MenuPlace; readonly done: Promise<void> }>()
  const hand = async (adapter: RegistersCommands, { channel, account }: MenuPlace): Promise<void> => {
    try {
      const listed = commands.filter(({ unowned }) => !(unowned && access.ownerKnown))
      await adapter.registerCommands(listed, await owners(channel))
    } catch (err) {
      if (stopping()) return
      logger.warn('The command menu was not registered', { err, channel, account })
    }
  }
  const enqueue = (adapter: RegistersCommands, place: MenuPlace): void => {
    const before = work.get(adapter)?.done ?? Promise.resolve()
    work.set(adapter, { place, done: before.then(() => hand(adapter, place)) })
  }
  return {
    register(adapter, place) {
      if (registersCommands(adapter)) enqueue(adapter, place)
    },
    again() {
      for (const [adapter, { place }] of work) enqueue(adapter, place)
    },
  }
}
