import { expect, it } from 'vitest'
import type { Fetch } from '../../src/client/call.ts'
import type { ParleyClient } from '../../src/client/client.ts'
import type { AgentProfile } from '../../src/core/agent-profile.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { DOCUMENT, undocumented } from '../http/conforms.ts'
import { recorded } from './household.ts'
import { serveHousehold } from './served-household.ts'

const clock: Tool = {
  spec: { name: 'clock', description: 'Says the time.', parameters: { type: 'object' } },
  class: 'pure',
  reach: 'inside',
  run: async () => '12:00',
}
const main: AgentProfile = {
  ...{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are calm.', tools: ['clock'] },
}

/** Asks as the client does, and compares every answer with the document. */
function strict(asked: Set<string>): Fetch {
  return async (url, init) => {
    const answer = await globalThis.fetch(url, init)
    const text = await answer.text()
    const { pathname, search } = new URL(url)
    const seen = { method: init.method, path: `${pathname}${search}`, status: answer.status, body: parsed(text) }
    expect([seen.method, seen.path, undocumented(seen)]).toEqual([seen.method, seen.path, []])
    asked.add(`${init.method.toLowerCase()} ${pathname}`)
    return { status: answer.status, text: async () => text }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const failed = (call: Promise<unknown>) =>
  call.then(
    () => 'no failure',
    ({ code }) => code,
  )

it('every answer of a daemon at work is as the document says', async () => {
  const { home, client } = await serveHousehold({
    script: (_request, turn) =>
      turn === 0 ? { blocks: [{ type: 'tool_use', name: 'clock', input: {} }] } : textReply('It is noon.'),
    tools: { clock: [clock] },
    config: { agents: [main] },
  })
  home.telegram.world.say({ from: 111, text: 'what time is it?' })
  await home.telegram.ledger.nextFromBot('sent')
  await recorded(home)
  const asked = new Set<string>()
  const api: ParleyClient = client({ fetch: strict(asked) })

  expect(await api.health.show()).toEqual({ status: 'ok' })
  expect((await api.status.show()).channels).toMatchObject([{ status: 'up' }])
  const { sessions, total } = await api.session.list()
  expect(total).toBe(1)
  const id = sessions[0]?.id ?? ''
  expect((await api.session.load(id)).events.map(({ type }) => type)).toContain('tool_call')
  await api.session.history(id, { limit: 2 })
  expect(await api.session.patch(id, { thinkingLevel: 'low', voice: 'never' })).toMatchObject({ thinkingLevel: 'low' })
  await api.session.rename(id, 'Noon')
  await api.session.setHistory(id, { kind: 'truncated', turns: 1 })

  expect(await api.session.create({ worker: 'main', workspace: 'notes' })).toMatchObject({ workspace: 'notes' })
  const begun = await api.session.start({ name: 'api:notes', tools: ['clock'], context: { tone: 'dry' } })
  expect(await api.agent.prompt(begun.id, { text: 'hello' })).toMatchObject({ status: 'ok', reply: 'It is noon.' })
  expect(await api.agent.prompt(begun.id, { text: 'note this', answer: false })).toMatchObject({ status: 'stored' })
  expect(await api.agent.prompt(begun.id, { text: 'go on', waitSeconds: 0 })).toMatchObject({ status: 'accepted' })
  await recorded(home)
  expect(await api.session.append(begun.id, { text: 'for later' })).toMatchObject({ status: 'stored' })
  expect(await api.session.cancel(begun.id)).toMatchObject({ stopped: false, dropped: 0 })
  expect(await failed(api.session.checkpoint(begun.id))).toBe('forbidden')
  expect(await api.session.export(begun.id, 'markdown')).toContain('for later')
  expect(await failed(api.session.move(id, { to: 'nobody' }))).not.toBe('no failure')
  expect(await failed(api.session.fork(id, { to: 'nobody' }))).not.toBe('no failure')
  expect((await api.archive.page(begun.id)).events.length).toBeGreaterThan(5)
  await api.archive.page(id, { after: 2, limit: 3 })
  await api.archive.exported(begun.id, { format: 'jsonl', path: '/tmp/notes.jsonl' })
  expect(await failed(api.archive.file(id, `media://sha256-${'0'.repeat(64)}`))).toBe('not_found')
  expect(await failed(api.archive.relocate(id, { kind: 'fork', to: 'nobody' }))).not.toBe('no failure')
  expect(await api.session.delete(begun.id)).toEqual({ deleted: true })

  const [why] = await api.message.why('1')
  expect(why).toMatchObject({ outcome: expect.any(String), steps: expect.any(Array) })
  await api.message.unseen('no such message')
  await api.person.list()
  expect(await failed(api.person.link('nobody', 'telegram:5'))).toBe('not_found')
  expect(await failed(api.person.unlink('telegram:5'))).toBe('not_found')
  home.telegram.world.say({ from: 555, text: 'let me in' })
  const mark = home.telegram.ledger.mark()
  await home.telegram.ledger.nextFromBot('sent', { after: mark })
  await recorded(home)
  const [applicant] = await api.admission.list()
  await api.admission.admit(applicant?.code ?? '')
  await api.admission.deny(applicant?.code ?? '')
  expect(await api.approval.list()).toEqual([])
  expect(await failed(api.approval.approve('none'))).toBe('not_found')
  expect(await failed(api.approval.deny('none'))).toBe('not_found')
  expect(await api.outbox.restoration()).toEqual([])
  expect(await failed(api.outbox.resume())).toBe('conflict')
  expect(await failed(api.outbox.discard())).toBe('conflict')
  expect(await failed(api.notification.send({ to: 'nowhere', text: 'Backup done' }))).toBe('not_found')
  const notified = await api.notification.send({ to: 'telegram:direct:111', text: 'Backup done' })
  expect(notified).toMatchObject({ status: 'delivered', messageIds: [expect.any(String)] })
  expect(await api.schedule.list()).toEqual([])
  expect(await failed(api.schedule.add({ to: 'nowhere', words: 'tomorrow at 9 stretch' }))).toBe('invalid')
  expect(await failed(api.schedule.next('none', 3))).toBe('not_found')
  expect(await failed(api.schedule.run('none'))).toBe('not_found')
  expect(await failed(api.schedule.pause('none'))).toBe('not_found')
  expect(await failed(api.schedule.resume('none'))).toBe('not_found')
  expect(await failed(api.schedule.remove('none'))).toBe('not_found')
  const { data: models } = await api.model.list()
  expect(await api.model.load(models[0]?.id ?? '')).toEqual(models[0])
  expect(await api.channel.list()).toMatchObject([{ status: 'up' }])
  expect(await api.agent.list()).toMatchObject([{ id: 'main' }])
  expect(await api.mcp.list()).toEqual([])
  await api.budget.list()
  expect((await api.delivery.list()).deliveries.length).toBeGreaterThan(0)
  expect(await failed(api.delivery.retry('none'))).toBe('not_found')
  expect(await failed(api.delivery.drop('none'))).toBe('not_found')
  expect(await api.node.post('lamp', { text: 'hello' })).toMatchObject({ status: 'ok' })
  expect(await api.memory.list({ words: 'noon' })).toEqual([])
  expect(await failed(api.memory.show(1))).toBe('not_found')
  expect(await failed(api.memory.remove(1))).toBe('not_found')
  expect(await api.forgetting.forget({ kind: 'person', name: 'telegram:111', confirmed: false })).toMatchObject({
    state: 'planned',
  })
  await api.retention.list()
  await api.retention.run()
  await failed(api.config.reload())
  expect(await failed(api.token.list())).toBe('forbidden')
  const { token } = await home.daemon.operator.tokens.create({ owner: true, scopes: ['tokens', 'sessions:read'] })
  const keeper = client({ token, fetch: strict(asked) })
  const made = await keeper.token.create({ namespace: 'api', label: 'notes', days: 1 })
  expect((await keeper.token.list()).map((one) => one.id)).toContain(made.id)
  expect(await keeper.token.revoke(made.id)).toEqual({ revoked: true })
  expect(await api.document.load()).toMatchObject({ openapi: '3.1.0' })

  const routes = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((one) => [one, path]),
  )
  const untouched = routes.filter(
    ([method, path = '']) =>
      ![...asked].some((one) => new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(one)),
  )
  // Two streams that do not end, a page for people, and what others than this client ask for.
  const [streams, pages] = [
    ['/v1/sessions/{name}/events', '/v1/events'],
    ['/v1/docs', '/readyz', '/metrics'],
  ]
  expect(untouched.map(([, path]) => path).toSorted()).toEqual(
    [...streams, ...pages, '/v1/chat/completions', '/v1/hooks/{name}'].toSorted(),
  )
})
