import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import type { DeliveryId, SourceId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Delivery } from '../../src/core/outbound.ts'
import { createActivity } from '../../src/delivery/activity.ts'
import { type Entry, entryOf } from '../../src/delivery/conversation.ts'
import type { Asking, EffectResult } from '../../src/delivery/item.ts'
import { createQueues } from '../../src/delivery/queues.ts'
import { DEFAULT_SETTINGS } from '../../src/delivery/settings.ts'
import { steppedClock } from './stepped-clock.ts'

const ADDRESS = parseAddress('telegram:group:-100')
/** More than lie between any two steps of a worker. */
const MICROTASKS = 40
const LATER_MS = 200

/** One conversation whose effects are done at once; `ready` and `hasSlot` are the world's. */
function openConversation() {
  const clock = steppedClock()
  const activity = createActivity()
  const world = { ready: true, hasSlot: (_id: DeliveryId) => true }
  const rows = new Map<DeliveryId, Delivery>()
  const calls: DeliveryId[] = []
  async function perform(effect: Asking, { entry: { id } }: { readonly entry: Entry }): Promise<EffectResult> {
    const row = rows.get(id)
    if (row === undefined) throw new Error(`No row ${id}`)
    switch (effect.do) {
      case 'load':
        return { to: 'load', row }
      case 'reserve':
        return world.hasSlot(id)
          ? { to: 'reserve', slotAt: clock.elapsed(), later: false }
          : { to: 'reserve', slotAt: clock.elapsed() + LATER_MS, later: true }
      case 'begin':
        return { to: 'begin', row }
      case 'call':
        calls.push(id)
        await Promise.resolve()
        return { to: 'call', receipt: { kind: 'sent', messageId: '1' } }
      case 'record':
        return { to: 'record' }
      default:
        throw new Error(`Nothing here asks for ${effect.do}`)
    }
  }
  const queues = createQueues({
    clock,
    logger: silentLogger,
    activity,
    perform,
    ready: () => world.ready,
    superseded: () => {},
    facts: (_conversation, answer) => ({
      now: clock.now(),
      elapsed: clock.elapsed(),
      settings: DEFAULT_SETTINGS,
      random: 0,
      ready: world.ready,
      sameKeyWindowMs: undefined,
      provesSending: false,
      wroteAt: undefined,
      moved: false,
      answer,
    }),
  })
  function push(name: string, lowPriority?: Delivery['lowPriority']): void {
    const row: Delivery = {
      ownerEpoch: 1 as Delivery['ownerEpoch'],
      id: name as DeliveryId,
      source: name as SourceId,
      traceId: 'trace' as Delivery['traceId'],
      address: ADDRESS,
      class: 'reply',
      op: 'send',
      state: 'planned',
      partNo: 0,
      attempt: 0,
      part: { text: name, markup: 'plain', plain: name },
      createdAt: clock.now(),
      expiresAt: clock.now() + 60_000,
      ...(lowPriority && { lowPriority }),
    } as Delivery
    rows.set(row.id, row)
    queues.push(ADDRESS, [entryOf(row)])
  }
  return { queues, world, clock, calls, push, idle: () => activity.idle() }
}

async function microtasks(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await Promise.resolve()
}

describe('the worker of a conversation is one', () => {
  it('when a part comes at whatever moment the head begins to wait for a slot', async () => {
    for (let count = 0; count < MICROTASKS; count++) {
      const { world, clock, calls, push, idle } = openConversation()
      world.hasSlot = (id) => id !== 'low'
      push('low', { known: true })
      await microtasks(count)
      push('high')
      await idle()
      world.hasSlot = () => true
      clock.moveTo(clock.now() + LATER_MS)
      await idle()

      expect(calls, `after ${count} microtasks`).toEqual(['high', 'low'])
    }
  })

  it('when its adapter becomes ready at whatever moment it is put aside', async () => {
    for (let count = 0; count < MICROTASKS; count++) {
      const { queues, world, calls, push, idle } = openConversation()
      push('one')
      push('two')
      world.ready = false
      await microtasks(count)
      world.ready = true
      queues.wake(ADDRESS.channel, ADDRESS.account)
      push('three')
      await idle()

      expect(calls, `after ${count} microtasks`).toEqual(['one', 'two', 'three'])
    }
  })
})
