import { telegramFormat } from '../../../adapters/telegram/format.ts'
import type { Address } from '../../../src/core/address.ts'
import { toAccountId } from '../../../src/core/ids.ts'
import type { MessageEntry } from '../../../src/rehearsal/telegram/ledger-entries.ts'
import { startTelegramServer } from '../../../src/rehearsal/telegram/server.ts'
import type { AdapterRig, Place, SendFate } from '../../contracts/adapter-contract.ts'
import { adapterContract } from '../../contracts/adapter-contract.ts'
import { adapterFor, WaitlessClock, webhookSettings } from './rig.ts'

const address = (chatType: Address['chatType'], chat: number, topic?: number): Address => ({
  channel: 'telegram',
  account: toAccountId('default'),
  chatType,
  chat: String(chat),
  ...(topic === undefined ? {} : { topic: String(topic) }),
})

async function openTelegram(mode: 'polling' | 'webhook'): Promise<AdapterRig> {
  const settings = mode === 'webhook' ? await webhookSettings() : {}
  const bots = [{ token: '7000001:rehearsal', canReadAllGroupMessages: true }]
  const server = await startTelegramServer({ bots, redelivery: { waitMs: () => 5 } })
  const { world, ledger, faults } = server
  const ada = world.addUser({ firstName: 'Ada' })
  const group = world.addChat({ type: 'supergroup', title: 'Engine Room', members: [ada] })
  const forum = world.addChat({ type: 'supergroup', title: 'Workshop', forum: true, members: [ada] })
  const topic = world.addTopic({ chat: forum, name: 'Engines' })
  world.say({ from: ada, text: '/start' })
  world.bot().queue.clear()
  const places: readonly [Place, ...Place[]] = [
    { name: 'a private chat', address: address('direct', ada.id) },
    { name: 'a group', address: address('group', group.id) },
    { name: 'the General topic', address: address('group', forum.id) },
    { name: 'a topic', address: address('group', forum.id, topic) },
  ]
  const updates = new Map<string, number>()
  const where = ({ address: { chat, topic: thread } }: Place) => ({
    chat: Number(chat),
    ...(thread === undefined ? {} : { topic: Number(thread) }),
  })
  const isConfirmed = (id: number | undefined) =>
    ledger.count((entry) => entry.kind === 'confirmed' && entry.updateId === id) > 0
  return {
    format: telegramFormat,
    places,
    createAdapter: () => adapterFor(server, { settings, clock: new WaitlessClock() }),
    say(place, text) {
      const { message_id } = world.say({ from: ada, text, ...where(place) })
      const offered = ledger.all((entry) => entry.kind === 'offered').at(-1)
      const id = `${place.address.chat}/${message_id}`
      if (offered?.kind === 'offered') updates.set(id, offered.updateId)
      return id
    },
    echo(place, text) {
      world.say({ from: world.bot().user, text, ...where(place) })
    },
    acknowledged: (id) => ledger.confirmed(updates.get(id) ?? Number.NaN),
    isAcknowledged: (id) => isConfirmed(updates.get(id)),
    // A webhook was set before the start has ended.
    listening: () => (mode === 'webhook' ? Promise.resolve() : ledger.listening()),
    fate: (fate) => {
      if (fate === 'unreachable') void server.close()
      else faults.add({ method: 'sendMessage', action: fates[fate] })
    },
    delivered: () =>
      ledger
        .all((entry) => entry.kind === 'message' && entry.botId !== null)
        .flatMap((entry) => shown(entry as MessageEntry)),
    close: () => server.close(),
  }

  function shown({ chatId, topic: thread, text }: MessageEntry) {
    const type = chatId > 0 ? 'direct' : 'group'
    return [{ address: address(type, chatId, thread ?? undefined), text }]
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
    body: { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' },
  },
  refused_for_now: {
    kind: 'answer',
    when: 'before',
    status: 429,
    body: {
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 35',
      parameters: { retry_after: 35 },
    },
  },
  answer_lost: { kind: 'reset', when: 'after' },
}

adapterContract('telegram', () => openTelegram('polling'))
adapterContract('telegram by webhook', () => openTelegram('webhook'))
