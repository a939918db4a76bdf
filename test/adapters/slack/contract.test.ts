import { slackFormat } from '../../../adapters/slack/format.ts'
import { readMrkdwn } from '../../../adapters/slack/inbound/mrkdwn-text.ts'
import type { Address } from '../../../src/core/address.ts'
import { toAccountId } from '../../../src/core/ids.ts'
import { rateLimited, startSlackServer } from '../../../src/rehearsal/slack/server.ts'
import type { AdapterRig, Place } from '../../contracts/adapter-contract.ts'
import { adapterContract } from '../../contracts/adapter-contract.ts'
import { adapterFor, quickRedelivery } from './rig.ts'

const address = (chatType: Address['chatType'], chat: string, topic?: string): Address => ({
  channel: 'slack',
  account: toAccountId('default'),
  chatType,
  chat,
  space: { type: 'team', id: 'T01' },
  ...(topic === undefined ? {} : { topic }),
})

async function openSlack(): Promise<AdapterRig> {
  const server = await startSlackServer({ redelivery: quickRedelivery })
  const { world, ledger, faults, app } = server
  app.subscriptions = []
  const ada = world.addUser({ id: 'U333', name: 'ada' })
  const channel = world.addChannel({ name: 'engine-room', members: [ada] })
  const secret = world.addChannel({ kind: 'group', name: 'boiler', members: [ada] })
  const trio = world.addChannel({ kind: 'mpim', name: 'mpdm-ada--bob--parley', members: [ada] })
  const root = world.say({ from: ada, channel, text: 'a thread' })
  app.subscriptions = ['message.channels', 'message.groups', 'message.im', 'message.mpim']
  const places: readonly [Place, ...Place[]] = [
    { name: 'a direct chat', address: address('direct', world.direct(ada).id) },
    { name: 'a channel', address: address('channel', channel.id) },
    { name: 'a private channel', address: address('channel', secret.id) },
    { name: 'a group direct chat', address: address('group', trio.id) },
    { name: 'a thread', address: address('channel', channel.id, root.ts) },
  ]
  const where = ({ address: { chat, topic } }: Place) => ({
    channel: chat,
    ...(topic === undefined ? {} : { thread: topic }),
  })
  const chatTypes = new Map(places.map(({ address: { chat, chatType } }) => [chat, chatType]))
  return {
    format: slackFormat,
    places,
    createAdapter: () => adapterFor(server),
    say: (place, text) => world.say({ from: ada, text, ...where(place) }).ts,
    echo(place, text) {
      const { channel: chat, thread } = where(place)
      world.post(world.channel(chat), { text, ...(thread === undefined ? {} : { thread }) })
    },
    acknowledged: (ts) => ledger.confirmed(ts),
    isAcknowledged: (ts) => ledger.isConfirmed(ts),
    listening: async () => {
      await ledger.nextSocket()
    },
    fate(fate) {
      if (fate === 'unreachable') void server.close()
      else if (fate === 'refused_for_now') faults.add(rateLimited('chat.postMessage', 35))
      else if (fate === 'refused') for (const { address: at } of places) world.archive(at.chat)
      else faults.add({ method: 'chat.postMessage', action: { kind: 'reset', when: 'after' } })
    },
    delivered: () =>
      ledger
        .fromBot()
        .filter(({ change, message }) => change === 'sent' && message.metadata !== undefined)
        .map(({ channel: chat, thread, text }) => ({
          address: address(chatTypes.get(chat) ?? 'channel', chat, thread ?? undefined),
          text: readMrkdwn(text, { userId: 'U0BOT', username: 'parley' }).text,
        })),
    close: () => server.close(),
  }
}

adapterContract('slack', openSlack)
