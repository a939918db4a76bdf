import { afterEach, describe, expect, test } from 'vitest'
import type { MenuCommand } from '../../../src/channels/capabilities.ts'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import type { RenderedPart } from '../../../src/core/outbound.ts'
import { addressOf, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

const MENU: readonly MenuCommand[] = [
  { name: 'new', description: 'Start afresh', who: 'anyone' },
  { name: 'mute', description: 'Say nothing for a while', args: 'how long', who: 'owner' },
  { name: 'Not A Name', description: 'Typed only', who: 'anyone' },
]

/** The minute after which an unanswered interaction is given up, at hand. */
class PatientClock implements Clock {
  giveUp = (): void => {}
  now = systemClock.now
  elapsed = systemClock.elapsed

  after(ms: number, callback: () => void): () => void {
    if (ms !== 60_000) return systemClock.after(ms, callback)
    this.giveUp = callback
    return () => {
      this.giveUp = () => {}
    }
  }
}

async function open(clock: Clock = systemClock) {
  const rig = await openRig({ clock })
  rigs.push(rig)
  await rig.listen()
  await rig.adapter.registerCommands(MENU, [])
  const { ledger, world } = rig.server
  const part = (text: string): RenderedPart => ({ text, plain: text, markup: 'markdown' })
  const slash = async () => {
    world.slash({ from: rig.ada, channel: rig.channel, command: 'mute', input: '2h' })
    const [event] = await rig.sink.committed(1)
    if (event?.kind !== 'command' || event.answerBy === undefined) throw new Error('a slash command was run')
    const recipient = { id: event.sender.id, handle: event.answerBy, otherwise: 'direct' as const }
    const { address } = event
    const answer = (text: string, partNo = 0) => {
      const sent = { address, rendered: part(text), key: `k${partNo}`.padEnd(25, 'k'), recipient, partNo }
      return rig.adapter.answerPrivately(sent, rig.signal)
    }
    return { event, answer }
  }
  return { ...rig, ledger, world, slash, part }
}

describe('the menu', () => {
  test('is registered once, and again only when it differs', async () => {
    const { adapter, ledger } = await open()
    await adapter.registerCommands(MENU, [])
    expect(ledger.calls('overwriteCommands')).toHaveLength(1)
    await adapter.registerCommands(MENU.slice(0, 1), [])
    expect(ledger.calls('overwriteCommands').map(({ answer }) => answer)).toMatchObject([
      [{ name: 'new' }, { name: 'mute', options: [{ name: 'input' }] }],
      [{ name: 'new' }],
    ])
  })

  test('that the platform has already is not written again from a new store', async () => {
    const { adapter, ledger, sink } = await open()
    await sink.state.delete('menu')
    await adapter.registerCommands([...MENU].reverse(), [])
    await adapter.registerCommands([...MENU].reverse(), [])
    expect([ledger.calls('overwriteCommands').length, ledger.calls('listCommands').length]).toEqual([1, 2])
    await adapter.registerCommands([{ ...MENU[0], description: 'Begin' } as MenuCommand, ...MENU.slice(1)], [])
    expect(ledger.calls('overwriteCommands')).toHaveLength(2)
  })

  test('that is refused is told and offered again', async () => {
    const { adapter, ledger, server } = await open()
    const body = { message: 'no', code: 50_035 }
    server.faults.add({ method: 'overwriteCommands', action: { kind: 'answer', when: 'before', status: 400, body } })
    const shorter = MENU.slice(0, 1)
    await expect(adapter.registerCommands(shorter, [])).rejects.toMatchObject({ code: 'unavailable' })
    await adapter.registerCommands(shorter, [])
    expect(ledger.calls('overwriteCommands')).toHaveLength(3)
  })
})

describe('a slash command', () => {
  test('is the command it names, with what was typed behind it', async () => {
    const { slash, channel, guild, ada } = await open()
    const { event } = await slash()
    expect(event).toMatchObject({
      kind: 'command',
      name: 'mute',
      args: '2h',
      text: '/mute 2h',
      mentioned: true,
      address: addressOf('channel', channel.id, { space: { type: 'guild', id: guild.id } }),
      sender: { id: ada.id, kind: 'user', displayName: 'Ada' },
    })
  })

  test('is acknowledged after its commit, and not at all when it could not be stored', async () => {
    const { sink, world, ledger, ada, channel, slash } = await open()
    let fail = true
    sink.accepting = async () => {
      if (fail) throw new Error('the disk is full')
    }
    world.slash({ from: ada, channel, command: 'new' })
    await sink.until(() => sink.offered.length === 1)
    fail = false
    await slash()
    await ledger.nextWhisper('deferred')
    expect(ledger.calls('acknowledgeInteraction')).toHaveLength(1)
  })

  test('takes an answer of several parts, for its person alone', async () => {
    const { slash, ledger } = await open()
    const { answer } = await slash()
    await ledger.nextWhisper('deferred')
    expect([await answer('first'), await answer('second', 1)]).toMatchObject([{ kind: 'sent' }, { kind: 'sent' }])
    expect(await answer('first, once more')).toMatchObject({ kind: 'sent' })
    expect(ledger.whispers().map(({ change, text }) => `${change} ${text}`.trim())).toEqual([
      'deferred',
      'edited first',
      'sent second',
      'edited first, once more',
    ])
  })

  test('F-I06: no link in an answer to it is previewed, in whichever part', async () => {
    const { slash, ledger } = await open()
    const { answer } = await slash()
    await ledger.nextWhisper('deferred')
    await answer('see https://thief.example.net/?q=secret')
    await answer('and https://thief.example.net/?q=more', 1)
    const answers = [...ledger.calls('editInteractionAnswer'), ...ledger.calls('followInteraction')]
    // For one person alone (64), and without previews (4).
    expect(answers.map(({ answer }) => answer)).toMatchObject([{ flags: 68 }, { flags: 68 }])
  })

  test('that was not acknowledged in time is answered in the direct chat', async () => {
    const { slash, ledger, server, world, ada, channel } = await open()
    const body = { message: 'Unknown interaction', code: 10_062 }
    server.faults.add({
      method: 'acknowledgeInteraction',
      action: { kind: 'answer', when: 'before', status: 404, body },
    })
    const { answer } = await slash()
    await ledger.nextCall('acknowledgeInteraction')
    expect(await answer('late')).toMatchObject({ kind: 'sent' })
    expect(world.messages(world.direct(ada).channel, { bot: true })).toHaveLength(1)
    expect(world.messages(channel, { bot: true })).toEqual([])
  })

  test('nobody answers stops to look as if somebody would', async () => {
    const clock = new PatientClock()
    const { slash, ledger } = await open(clock)
    const { answer } = await slash()
    await ledger.nextWhisper('deferred')
    clock.giveUp()
    await ledger.nextWhisper('deleted')
    expect(await answer('after all')).toMatchObject({ kind: 'sent' })
  })

  test('F-G01: another interaction, or half of one, is counted', async () => {
    const { world, sink } = await open()
    world.raw('INTERACTION_CREATE', { id: '5', type: 3, token: 'x', application_id: '1', entitlements: [] })
    world.raw('INTERACTION_CREATE', { id: '6', type: 4, token: 'x', application_id: '1', entitlements: [] })
    const options = [{ name: 'text', type: 3, value: { toString: 1 } }]
    const data = { id: '1', name: 'mute', type: 1, options }
    world.raw('INTERACTION_CREATE', { id: '7', type: 2, token: 'x', application_id: '1', entitlements: [], data })
    await sink.until(() => sink.dropped.length === 3)
    const malformed = 'malformed:interaction'
    expect(sink.dropped.toSorted()).toEqual(['interaction:other', malformed, malformed])
    expect(sink.events).toEqual([])
  })
})
