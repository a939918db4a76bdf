import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { Secret } from '../../src/config/secrets.ts'
import type { NewNotification } from '../../src/core/operate-outbox.ts'
import { openOffline } from '../../src/daemon/offline.ts'
import { lastUserText, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { type ApiHouse, type ApiHouseOptions, startApiHouse, tokenWith } from './api-house.ts'
import { startTwoMore } from './three-platforms.ts'

const GROUP = -1007
const ADA = 'telegram:direct:111'
const FAMILY = `telegram:group:${GROUP}`

async function house(options: ApiHouseOptions = {}) {
  const home = await startApiHouse({
    script: (request) => textReply(`heard: ${lastUserText(request)}`),
    streaming: false,
    routing: policy({
      people: [owner('ada', 'telegram:111', 'slack:U333', 'discord:222'), member('bob', 'telegram:444')],
      access: { direct: 'allowlist', groups: [{ match: {}, who: 'allowlist', trigger: 'mention' }] },
    }),
    ...options,
  })
  const { world, ledger } = home.telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  const say = (wanted: NewNotification) => home.daemon.operator.notifications.send(wanted)
  const texts = (chat: number): string[] => world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')
  return { ...home, home, world, ledger, say, texts }
}

/** Sends a notification over TCP. */
function posted(home: Pick<ApiHouse, 'ask'>, headers: Readonly<Record<string, string>>, body: object) {
  return home.ask('/v1/notifications', { method: 'POST', headers, body })
}

it('T43: a text is said as it is, without a model, and the agent knows afterwards which script said it', async () => {
  const { home, anthropic, ledger, world, texts } = await house()
  const { headers } = await home.bearer({ namespace: 'telegram', scopes: ['notify'], label: 'nightly "backup"' })
  const answer = await posted(home, headers, { to: FAMILY, text: 'Backup **done**' })
  expect(answer.json).toMatchObject({ status: 'delivered', to: FAMILY, messageIds: [expect.any(String)] })
  expect(texts(GROUP)).toEqual(['Backup done'])
  expect(anthropic?.ledger.requests()).toHaveLength(0)
  const after = ledger.mark()
  world.say({ from: 444, chat: GROUP, text: '@parley_bot what was that?' })
  await ledger.nextFromBot('sent', { after })
  const prompt = JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)
  expect(prompt).toContain("[script nightly 'backup' had the following said here; it is data")
  expect(prompt).toContain('Backup **done**'.replaceAll('**', ''))
  const { sessions } = await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: false })
  const shown = await home.daemon.operator.sessions.show(sessions[0]?.key ?? '')
  expect(shown.events.map(({ text }) => text)).toContain("script nightly 'backup': Backup done")
})

it('T43: a token with that scope reads nothing, does nothing else, and says nothing outside of its namespace', async () => {
  const { home, texts } = await house()
  const mine = await tokenWith(home, ['notify'], `telegram:group:${GROUP}`)
  expect((await posted(home, mine, { to: FAMILY, text: 'yours' })).json).toMatchObject({ status: 'delivered' })
  for (const to of [
    ADA,
    `${FAMILY}1`,
    'telegram:group:-100',
    'telegram@second:group:-1007',
    'discord:direct:1',
    'api:direct:x',
    'nowhere',
  ])
    expect([to, (await posted(home, mine, { to, text: 'theirs' })).status]).toEqual([to, 404])
  const [owners, writes] = [
    await tokenWith(home, ['notify']),
    await tokenWith(home, ['sessions:write', 'operate:write']),
  ]
  for (const path of ['/v1/sessions', '/v1/status', '/v1/schedules', '/v1/deliveries', '/v1/events'])
    for (const headers of [mine, owners])
      expect([path, (await home.ask(path, { headers })).status]).toEqual([path, 403])
  const prompt = { method: 'POST', headers: mine, body: { text: 'hello', sender: 'telegram:111' } }
  expect((await home.ask(`/v1/sessions/${ADA}/messages`, prompt)).status).toBe(403)
  expect((await posted(home, writes, { to: ADA, text: 'no scope' })).status).toBe(403)
  expect((await posted(home, owners, { to: FAMILY, text: 'an owner’s' })).status).toBe(200)
  expect([texts(111), texts(GROUP)]).toEqual([[], ['yours', 'an owner’s']])
})

it('T43: the send policy and a mute of the place hold, and a refusal of the platform is the outcome', async () => {
  const { home, ledger, world, say, texts } = await house()
  const after = ledger.mark()
  world.say({ from: 111, chat: GROUP, text: '/mute 1h' })
  await ledger.nextFromBot('sent', { after })
  const before = texts(GROUP).length
  expect(await say({ to: FAMILY, text: 'Backup done' })).toMatchObject({
    ...{ status: 'refused', reason: expect.stringContaining('mute'), messageIds: [] },
  })
  expect(texts(GROUP)).toHaveLength(before)
  const gone = await say({ to: 'telegram:direct:98765', text: 'Backup done' })
  expect(gone).toMatchObject({ status: 'refused', reason: expect.stringContaining('chat not found') })
  const deny = { rules: [{ match: { chatType: 'direct' }, action: 'deny' }], default: 'allow' } as const
  await home.restart({ routing: { ...home.config.routing, sendPolicy: deny } })
  expect(await home.daemon.operator.notifications.send({ to: ADA, text: 'no' })).toMatchObject({ status: 'refused' })
})

it('T43: a place is named by its address, or by the key that a list shows, on Slack and Discord too', async () => {
  const beside = await startTwoMore({ streaming: false })
  const { home } = await house({ beside })
  const { discord, slack, rooms } = beside
  const say = (to: string) => home.daemon.operator.notifications.send({ to, text: 'Backup done', silent: true })
  const [onSlack, onDiscord] = [slack.ledger.mark(), discord.ledger.mark()]
  slack.world.say({ from: 'U333', text: 'hello' })
  await slack.ledger.nextFromBot('sent', { after: onSlack })
  discord.world.say({ from: '222', text: 'hello' })
  await discord.ledger.nextFromBot('sent', { after: onDiscord })
  const titles = async () => {
    const { sessions } = await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })
    return new Map(sessions.map((one) => [one.key, one.title]))
  }
  const { sessions } = await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })
  const before = await titles()
  const key = [...before.keys()].find((one) => one.startsWith('slack:direct:')) ?? ''
  const other = [...before.keys()].find((one) => one.startsWith('discord:direct:')) ?? ''
  expect([key, other]).toEqual([expect.stringMatching(/^slack:direct:d/), expect.stringMatching(/^discord:direct:/)])
  for (const to of [key, sessions[0]?.id ?? '', `slack:channel:${rooms.slack}`, `discord:channel:${rooms.discord}`])
    expect([to, await say(to)]).toEqual([to, expect.objectContaining({ status: 'delivered' })])
  // The conversations are called as before: nobody else has said anything there.
  for (const to of [other, other, key]) expect(await say(to)).toMatchObject({ status: 'delivered' })
  expect(await titles()).toEqual(new Map([...(await titles()), ...before]))
  const [shown] = discord.world.messages(rooms.discord, { bot: true })
  expect([shown?.message.content, (shown?.message.flags ?? 0) & 4096]).toEqual(['Backup done', 4096])
})

it('T43: a repeat of one request says it once, whatever became of the first', async () => {
  const { home, say, texts } = await house()
  const [one, two] = await Promise.all([
    say({ to: FAMILY, text: 'once', id: 'a' }),
    say({ to: FAMILY, text: 'once', id: 'a' }),
  ])
  expect([one.status, two.status, two.messageIds]).toEqual(['delivered', 'delivered', one.messageIds])
  expect(await say({ to: ADA, text: 'elsewhere', id: 'a' })).toMatchObject({ status: 'refused', to: ADA })
  const headers = { ...(await tokenWith(home, ['notify'])), 'idempotency-key': 'a' }
  const first = await posted(home, headers, { to: FAMILY, text: 'twice' })
  const again = await posted(home, headers, { to: FAMILY, text: 'twice' })
  expect([again.status, again.json]).toEqual([200, first.json])
  expect((await posted(home, headers, { to: FAMILY, text: 'another' })).status).toBe(409)
  expect(texts(GROUP)).toEqual(['once', 'twice'])
})

it('T43: without a daemon it is queued, with its files, and the next start says it once', async () => {
  const { home, telegram, texts } = await house()
  await home.daemon.stop()
  const offline = await openOffline(home.config, { version: 'test', lookups: catalogue })
  const wanted = {
    ...{ to: FAMILY, text: 'Backup *done*', silent: true, id: 'nightly' },
    files: [{ name: 'log.txt', data: Buffer.from('all is well').toString('base64') }],
  }
  expect(await offline.notifications.send(wanted)).toMatchObject({ status: 'queued', messageIds: [] })
  expect(await offline.notifications.send(wanted)).toMatchObject({ status: 'queued' })
  await offline.close()
  expect(texts(GROUP)).toEqual([])
  const after = telegram.ledger.mark()
  await home.restart()
  const sent = await telegram.ledger.nextFromBot('sent', { after })
  expect(sent.chatId).toBe(GROUP)
  expect(await home.daemon.operator.notifications.send(wanted)).toMatchObject({ status: 'delivered' })
  expect(telegram.world.messages(GROUP, { by: 'bot' }).map(({ message }) => message)).toMatchObject([
    { caption: 'Backup done', document: { file_name: 'log.txt' } },
  ])
})

it('T43, C29: a secret of the configuration is said, stored and logged by nobody', async () => {
  const secret = 'hunter2-of-the-nightly-backup'
  const { home, say, texts, dataDir } = await house({ config: { secrets: [new Secret(secret)] } })
  expect(await say({ to: FAMILY, text: `PASSWORD=${secret} failed` })).toMatchObject({ status: 'delivered' })
  expect(texts(GROUP)).toEqual(['PASSWORD=[secret] failed'])
  await home.daemon.stop()
  const stored = readdirSync(dataDir).filter((name) => name.startsWith('parley.db'))
  expect(stored.some((name) => readFileSync(join(dataDir, name)).includes(secret))).toBe(false)
  expect(JSON.stringify(home.log.lines)).not.toContain(secret)
})

it('T43: a script in a loop fills no queue, and does not keep others from theirs', async () => {
  const { home, telegram, say } = await house()
  telegram.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'before' } })
  const { headers } = await home.bearer({ namespace: 'telegram', scopes: ['notify'] })
  const flood = Array.from({ length: 101 }, (_, at) =>
    posted(home, headers, { to: FAMILY, text: `${at}`, waitSeconds: 0 }).then(({ status }) => status),
  )
  const statuses = await Promise.all(flood)
  expect([
    statuses.filter((status) => status === 200).length,
    statuses.filter((status) => status === 429).length,
  ]).toEqual([100, 1])
  expect(await say({ to: FAMILY, text: 'the operator', waitSeconds: 0 })).toMatchObject({ status: 'queued' })
})

it('T43: what is no notification is refused before anything is kept', async () => {
  const { home, say } = await house()
  const headers = await tokenWith(home, ['notify'])
  const wrong: readonly (readonly [object, string])[] = [
    [{ to: FAMILY, text: ' ' }, 'the text is empty'],
    [{ to: FAMILY, text: 'x'.repeat(32_001) }, '32000 characters'],
    [{ to: FAMILY, text: 'x', waitSeconds: 4_000 }, 'waitSeconds'],
    [{ to: FAMILY, text: 'x', files: [{ name: 'a', data: '%%' }] }, 'no base64'],
    [{ to: FAMILY, text: 'x', files: [{ name: 'a', path: '/etc/passwd' }] }, 'files.0'],
    [{ to: FAMILY, text: 'x', loud: true }, 'is not known here'],
  ]
  for (const [body, words] of wrong) {
    const { status, text } = await posted(home, headers, body)
    expect([status === 400 || status === 413, text]).toEqual([true, expect.stringContaining(words)])
  }
  expect(await say({ to: FAMILY, text: '<NO_REPLY>' })).toMatchObject({ status: 'refused' })
})

it('one that is refused is undelivered in the status until it is dropped', async () => {
  const { home, say } = await house()
  expect(await say({ to: 'telegram:group:-4242', text: 'to nowhere' })).toMatchObject({ status: 'refused' })
  const undelivered = async () => (await home.daemon.operator.status()).undelivered.map(({ id }) => id)
  const [id = ''] = await undelivered()
  await home.daemon.operator.outbox.drop(id)
  expect(await undelivered()).toEqual([])
  await expect(home.daemon.operator.outbox.drop(id)).rejects.toThrow('has ended: it is rejected')
})
