import { expect, test } from 'vitest'
import { createMenus } from '../../src/channels/menus.ts'
import { deferred } from '../../src/core/deferred.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { ManualClock } from '../adapters/telegram/manual-clock.ts'
import { FakeChannel } from '../delivery/fake-channel.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'

/** A channel whose platform takes no menu. */
class Menuless extends FakeChannel {
  readonly handed = deferred()
  readonly refused = deferred()

  constructor() {
    super(() => new ManualClock())
  }

  async registerCommands(): Promise<void> {
    this.handed.resolve()
    await this.refused.promise
    throw new Error('aborted')
  }
}

/** Hands a menu over, has it fail, and returns the warnings that this led to. */
async function warningsOf(stopping: () => boolean): Promise<readonly string[]> {
  const [logger, adapter] = [new AwaitedLog(), new Menuless()]
  const menus = createMenus({ logger, commands: [], access: { ownerKnown: true }, owners: async () => [], stopping })
  menus.register(adapter, { channel: adapter.id, account: toAccountId('default') })
  await adapter.handed.promise
  adapter.refused.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  return logger.lines.map(({ sentence }) => sentence)
}

test('a menu that a platform does not take is warned about, and not where the stop of the daemon ended it', async () => {
  expect(await warningsOf(() => false)).toEqual(['The command menu was not registered'])
  expect(await warningsOf(() => true)).toEqual([])
})
