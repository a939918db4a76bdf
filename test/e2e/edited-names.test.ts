import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { household } from '../fakes/routing-policy.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { agents, noting, remembering } from './remembering.ts'
import { startSlackHousehold } from './slack-household.ts'

const MARK = 'zq9canary-4711'
const script: Script = (request) => textReply(`heard ${lastUserText(request).length}`)

async function named({ daemon: { operator } }: Pick<Household, 'daemon'>) {
  const [session] = (await operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
  return { description: session?.description, preview: session?.preview }
}

describe('a session whose message was edited', () => {
  /** Ada says something, which is answered. */
  async function said(text: string, more: Parameters<typeof startHousehold>[0]) {
    const home = await startHousehold({ streaming: false, ...more })
    const { world, ledger } = home.telegram
    const say = async (words: string) => {
      const after = ledger.mark()
      const { message_id } = world.say({ from: 111, text: words })
      await ledger.nextFromBot('sent', { after })
      await recorded(home)
      return message_id
    }
    const message = await say(text)
    const edit = async (words: string) => {
      const update = world.edit({ chat: 111, message, text: words })
      await ledger.confirmed(ledger.updateIdOf(update))
      await recorded(home)
    }
    return { home, say, edit }
  }

  it.each(['update', 'rerun'] as const)(
    'S14: has its name by the words that it has now, with edits: %s',
    async (edits) => {
      const routing: Partial<RoutingPolicy> = household({ edits })
      const { home, edit } = await said(`it is ${MARK}`, { script, routing })
      await edit('tea for two')
      await expect.poll(() => named(home)).toMatchObject({ description: 'tea for two' })
      await edit('tea for three')
      await expect.poll(() => named(home)).toMatchObject({ description: 'tea for three' })
    },
  )

  it('S13: shows as its last words what they are now, where nobody answered them', async () => {
    const home = await startHousehold({ script: () => textReply('<NO_REPLY>'), streaming: false })
    const { world, ledger } = home.telegram
    const { message_id: message } = world.say({ from: 111, text: `it is ${MARK}` })
    await expect.poll(() => named(home)).toMatchObject({ preview: `it is ${MARK}` })
    const update = world.edit({ chat: 111, message, text: 'tea for two' })
    await ledger.confirmed(ledger.updateIdOf(update))
    await expect.poll(() => named(home)).toEqual({ description: 'tea for two', preview: 'tea for two' })
  })

  it('S38: has no description in words that it lost, and keeps one in those that it has', async () => {
    const describing = (text: string) => ({ script: remembering(noting(['describe', { text }])), config: { agents } })
    const one = await said('the gate opens with bluebird', describing('Gate and bluebird'))
    await one.say('/checkpoint')
    expect(await named(one.home)).toMatchObject({ description: 'Gate and bluebird' })
    await one.edit('the gate opens at last')
    expect(await named(one.home)).toMatchObject({ description: '' })
    const other = await said('the gate opens with bluebird', describing('A gate'))
    await other.say('/checkpoint')
    await other.edit('the gate opens at last')
    expect(await named(other.home)).toMatchObject({ description: 'A gate' })
  })

  it('S14: has no name by words that were edited and then deleted', async () => {
    const home = await startSlackHousehold({ script })
    const { world, ledger } = home.slack
    const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333'] })
    const after = ledger.mark()
    const message = world.say({ from: 'U333', channel, text: '<@U0BOT> hello' })
    await ledger.next((entry) => entry.kind === 'message' && entry.byBot, { after })
    world.edit({ channel, message, text: `<@U0BOT> it is ${MARK}` })
    await expect.poll(() => named(home)).toMatchObject({ description: expect.stringContaining(MARK) })
    world.remove(channel, message)
    await expect.poll(() => named(home)).toMatchObject({ description: '' })
  })
})
