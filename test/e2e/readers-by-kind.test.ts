import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { parseAddress } from '../../src/core/address.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { startApiHouse, tokenWith } from './api-house.ts'
import { GROUP } from './asking-household.ts'
import { parley } from './house-command.ts'
import { startHousehold } from './household.ts'
import { callText, repeating } from './obedient.ts'

const SECRET = 'bluebird'
const OWN = 'telegram:direct:111'
const HOOK_SECRET = 'a secret of the build'

/** Delivers to a chat, at a time that does not come. */
const schedule = (id: string, to: string, prompt = 'Say hello.'): ConfiguredSchedule => ({
  id: toScheduleId(id),
  definition: {
    ...{ cron: '0 4 29 2 *', timezone: 'Etc/UTC', prompt, deliverTo: parseAddress(to) },
    ...{ missed: { kind: 'skip' }, overlap: 'skip' },
  },
})

const AGENT = {
  ...{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.' },
  tools: ['task', 'sessions', 'memory'],
}
const PEOPLE: Partial<RoutingPolicy> = {
  people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
  access: { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
}

/** Ada owns the agent; Bob (444) may talk to it, Cy (555) has never done so. */
async function household(routing: Partial<RoutingPolicy> = {}) {
  const hook = { secret: new Secret(HOOK_SECRET), signature: 'parley', sessions: [] } as const
  const house = await startApiHouse({
    ...{ script: repeating, streaming: false },
    config: { agents: [AGENT] },
    http: {
      hooks: [
        { ...hook, name: 'group', deliverTo: parseAddress(`telegram:group:${GROUP}`) },
        { ...hook, name: 'bob', deliverTo: parseAddress('telegram:direct:444') },
        { ...hook, name: 'cy', deliverTo: parseAddress('telegram:direct:555') },
      ],
    },
    routing: { ...PEOPLE, ...routing },
    schedules: () => [
      schedule('group', `telegram:group:${GROUP}`),
      schedule('bob', 'telegram:direct:444'),
      schedule('cy', 'telegram:direct:555'),
    ],
  })
  const { world, ledger } = house.telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, forum: true, members: [111, 444] })
  const say = async (from: number, text: string, chat = from, topic?: number): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }), ...(topic === undefined ? {} : { topic }) })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
  }
  const { sessions } = house.daemon.operator
  await say(111, `my secret is ${SECRET}`)
  const [{ id: secret, key: own } = { id: '', key: '' }] = (
    await sessions.list({ limit: 1, offset: 0, inactive: false })
  ).sessions
  return { house, world, ledger, say, sessions, secret, own }
}
type Stage = Awaited<ReturnType<typeof household>>

async function called({ house }: Stage, name: string): Promise<string> {
  const [body, at] = [JSON.stringify({ of: name }), String(Date.now())]
  const signature = `v1=${createHmac('sha256', HOOK_SECRET).update(`${at}.${body}`).digest('hex')}`
  const headers = { 'x-parley-timestamp': at, 'x-parley-signature': signature, ...(await tokenWith(house, ['hooks'])) }
  const { json } = await house.ask(`/v1/hooks/${name}`, { method: 'POST', headers, body })
  return (json as { readonly session: string }).session
}

async function forked({ house, say, own }: Stage, to: string): Promise<string> {
  await say(111, '/new')
  await say(111, 'dinner is at seven')
  expect(await parley(house.config, ['sessions', 'fork', own, to, '--yes'])).toMatchObject({ code: 0 })
  return to
}

async function run({ house, ledger }: Stage, id: string, chat: number): Promise<string> {
  const after = ledger.mark()
  await house.daemon.operator.schedules.run(id)
  if (chat !== 555) await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
  return `cron:${id}`
}

async function taskOf({ say }: Stage, chat: number): Promise<string> {
  const text = await say(444, `${chat < 0 ? '@parley_bot ' : ''}${callText('task', { task: 'one' })}`, chat)
  return /"sessionKey":"(task:[a-z0-9]+)"/.exec(text)?.[1] ?? ''
}

/** Bob says these to the bot; returns the name of the session that is his then. */
async function bobSays({ say }: Stage, texts: readonly string[], name = 'telegram:direct:444'): Promise<string> {
  for (const text of texts) await say(444, text)
  return name
}

const FRESH = ['hello', '/new']

/** Sessions that somebody besides Ada reads, or may read next; each returns its name. */
const KINDS: [string, (stage: Stage) => Promise<string>, Partial<RoutingPolicy>?][] = [
  ['a direct chat', (stage) => bobSays(stage, ['hello'])],
  ['a direct chat after /new', (stage) => bobSays(stage, FRESH)],
  ['a fork in a direct chat', async (stage) => forked(stage, await bobSays(stage, ['hello']))],
  ['a fork in a chat in which nobody has spoken', (stage) => forked(stage, 'telegram:direct:555')],
  ['the session of a person', (stage) => bobSays(stage, ['hello'], 'direct:bob'), { direct: 'person' }],
  ['the session of a person after /new', (stage) => bobSays(stage, FRESH, 'direct:bob'), { direct: 'person' }],
  [
    'a group',
    async ({ say }) => {
      await say(444, '@parley_bot hello', GROUP)
      return `telegram:group:${GROUP}`
    },
  ],
  [
    'a topic',
    async ({ world, say }) => {
      const topic = world.addTopic({ chat: GROUP, name: 'Chess' })
      await say(444, '@parley_bot hello', GROUP, topic)
      return `telegram:group:${GROUP}/${topic}`
    },
  ],
  ['a task of a group', (stage) => taskOf(stage, GROUP)],
  ['a task of a direct chat', (stage) => taskOf(stage, 444)],
  ['a schedule for a group', (stage) => run(stage, 'group', GROUP)],
  ['a schedule for a direct chat', (stage) => bobSays(stage, ['hello']).then(() => run(stage, 'bob', 444))],
  ['a schedule for a direct chat after /new', (stage) => bobSays(stage, FRESH).then(() => run(stage, 'bob', 444))],
  ['a schedule for a chat in which nobody has spoken', (stage) => run(stage, 'cy', 555)],
  ['the hook of a group', (stage) => called(stage, 'group')],
  ['the hook of a direct chat', (stage) => bobSays(stage, ['hello']).then(() => called(stage, 'bob'))],
  ['the hook of a chat in which nobody has spoken', (stage) => called(stage, 'cy')],
]

const shown = ({ world }: Stage): string =>
  JSON.stringify([444, 555, GROUP].map((chat) => world.messages(chat, { by: 'bot' })))
const said = async ({ sessions }: Stage, name: string): Promise<string> =>
  JSON.stringify(await sessions.history(name, { limit: 100 }))

it.each(KINDS)(
  'S20, T32: %s reads nothing of the owner’s, whichever way the owner writes to it',
  async (_, begin, routing) => {
    const stage = await household(routing)
    const { say, sessions, secret, own } = stage
    const name = await begin(stage)
    const looks = [callText('sessions_history', { sessionKey: secret }), callText('sessions_list', { messageLimit: 5 })]
    for (const message of looks) {
      await say(111, '/new')
      expect(await say(111, callText('sessions_send', { sessionKey: name, message, announce: true }))).not.toContain(
        SECRET,
      )
      await say(111, '/new')
      expect(await say(111, callText('sessions_send', { sessionKey: name, message }))).not.toContain(SECRET)
      await sessions.post(name, { text: message })
    }
    expect(await said(stage, name)).toMatch(/Denied|There is no session|it says/)
    expect(await said(stage, name)).not.toContain(SECRET)
    expect(shown(stage)).not.toContain(SECRET)
    // The words were there to be read.
    await say(111, '/new')
    expect(await say(111, looks[0] ?? '')).toContain(SECRET)
    expect(own).toBe(routing === undefined ? OWN : 'direct:ada')
  },
)

it.each<[string, Partial<RoutingPolicy>, boolean]>([
  ['says what the owner may read', {}, true],
  ['says nothing of it, where other people share the session that has it on record', { dimensions: [] }, false],
])('T32: what a schedule delivers to the owner %s', async (_, routing, says) => {
  const house = await startHousehold({
    ...{ script: repeating, streaming: false, config: { agents: [AGENT] }, routing: { ...PEOPLE, ...routing } },
    schedules: () => [schedule('ada', OWN, callText('sessions_list', { messageLimit: 5 }))],
  })
  const { ledger } = house.telegram
  await house.daemon.operator.sessions.post('cli:notes', { text: `my secret is ${SECRET}` })
  const written = ledger.mark()
  house.telegram.world.say({ from: 111, text: 'hello' })
  await ledger.nextFromBot('sent', { after: written })
  const after = ledger.mark()
  await house.daemon.operator.schedules.run('ada')
  expect((await ledger.nextFromBot('sent', { after })).text.includes(SECRET)).toBe(says)
})
