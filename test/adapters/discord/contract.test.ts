import { setImmediate as turn } from 'node:timers/promises'
import { discordFormat } from '../../../adapters/discord/format.ts'
import type { Address } from '../../../src/core/address.ts'
import type { MessageEntry } from '../../../src/rehearsal/discord/ledger-entries.ts'
import { startDiscordServer } from '../../../src/rehearsal/discord/server.ts'
import type { AdapterRig, Place, SendFate } from '../../contracts/adapter-contract.ts'
import { adapterContract } from '../../contracts/adapter-contract.ts'
import type { RecordingSink } from '../../contracts/recording-sink.ts'
import { adapterFor, addressOf } from './rig.ts'

async function openDiscord(): Promise<AdapterRig> {
  const server = await startDiscordServer()
  const { world, ledger, faults } = server
  const ada = world.addUser({ username: 'ada', displayName: 'Ada' })
  const guild = world.addGuild({ name: 'Workshop' })
  const channel = world.addChannel({ guild, name: 'engines' })
  const thread = world.addThread({ channel, name: 'plans' })
  const group = world.addGroup({ members: [ada] })
  const space = { type: 'guild', id: guild.id }
  const places: readonly [Place, ...Place[]] = [
    { name: 'a channel', address: addressOf('channel', channel.id, { space }) },
    { name: 'a thread', address: addressOf('channel', channel.id, { topic: thread.id, space }) },
    { name: 'a direct chat', address: addressOf('direct', ada.id) },
    { name: 'a group', address: addressOf('group', group.id) },
  ]
  const where = ({ address: { chatType, chat, topic } }: Place) =>
    chatType === 'direct' ? world.direct(chat).channel : world.channel(topic ?? chat).channel
  const addresses = new Map<string, Address>(places.map((place) => [where(place).id, place.address]))
  const channelOf = new Map<string, string>()
  const isRead = (id: string, sink: RecordingSink) => sink.cursors.get(`channel:${channelOf.get(id)}`) === id
  return {
    format: discordFormat,
    places,
    createAdapter: () => adapterFor(server),
    say(place, text) {
      const { id, channel_id } = world.say({ from: ada, channel: where(place), text })
      channelOf.set(id, channel_id)
      return id
    },
    echo(place, text) {
      world.say({ from: world.bot, channel: where(place), text })
    },
    acknowledged: (id, sink) => sink.until(() => isRead(id, sink)),
    isAcknowledged: isRead,
    listening: () => ledger.listening(),
    async fate(fate) {
      if (fate === 'unreachable') {
        await server.close()
        // The client has to see that its idle connections are gone: one that it thinks open may have taken bytes.
        for (const _ of [1, 2]) await turn()
      } else faults.add({ method: 'createMessage', action: fates[fate] })
    },
    delivered: () =>
      ledger
        .all((entry): entry is MessageEntry => entry.kind === 'message' && entry.byBot && entry.change === 'sent')
        .flatMap(({ channelId, text }) => {
          const address = addresses.get(channelId)
          return address === undefined ? [] : [{ address, text }]
        }),
    close: () => server.close(),
  }
}

const fates: Readonly<
  Record<
    Exclude<SendFate, 'unreachable'>,
    { kind: 'answer'; when: 'before'; status: number; body: object } | { kind: 'reset'; when: 'after' }
  >
> = {
  refused: {
    kind: 'answer',
    when: 'before',
    status: 403,
    body: { message: 'Missing Permissions', code: 50_013 },
  },
  refused_for_now: {
    kind: 'answer',
    when: 'before',
    status: 429,
    body: { message: 'You are being rate limited.', retry_after: 35, global: false },
  },
  answer_lost: { kind: 'reset', when: 'after' },
}

adapterContract('discord', openDiscord)
