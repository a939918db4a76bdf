import { ParleyError } from '../../src/core/errors.ts'
import { toAccountId, toAgentId } from '../../src/core/ids.ts'
import type { AdmissionReport } from '../../src/core/operate-admissions.ts'
import type { ApprovalReport } from '../../src/core/operate-approvals.ts'
import type { ReloadReport } from '../../src/core/operate-config.ts'
import type { MemoryReport } from '../../src/core/operate-memory.ts'
import type { RestorationReport } from '../../src/core/operate-outbox.ts'
import type { PeopleReport } from '../../src/core/operate-people.ts'
import type { ScheduleSummary } from '../../src/core/operate-schedules.ts'
import type { SessionDetail, SessionListQuery, SessionSummary } from '../../src/core/operate-sessions.ts'
import type { ApiService, StatusReport, WhyReport } from '../../src/core/operator.ts'
import { fakeApi, fakeDecisions } from './api-operator.ts'
import { fakeArchives } from './archives.ts'
import { fakeChat } from './chat-operator.ts'
import { fakeForgetting } from './forgetting-operator.ts'
import { fakeLive } from './live-events.ts'
import { fakeTokens } from './token-operator.ts'

const AT = Date.UTC(2026, 10, 21, 14, 3, 22)

export const sampleStatus: StatusReport = {
  version: '0.1.0',
  startedAt: AT,
  channels: [
    {
      channel: 'telegram',
      account: 'default',
      status: 'up',
      username: 'parley_bot',
      receives: 'by polling',
      lastProofAt: AT + 5000,
      hints: ['privacy mode hides group messages that do not address the bot'],
      unknown: { poll: 2, 'message:forum_topic_created': 1 },
    },
    { channel: 'telegram', account: 'second', status: 'down', detail: 'the token is refused', hints: [], unknown: {} },
  ],
  ownerKnown: false,
  claims: [
    {
      ...{ channel: 'telegram', account: 'default', username: 'parley_bot' },
      ...{ command: '/claim abc', link: 'https://t.me/parley_bot?start=abc' },
    },
  ],
  models: ['scripted/echo'],
  botsHeld: [],
  sessions: 2,
  runningTurns: 1,
  waiting: 3,
  spentToday: { turns: 4, usage: { input: 50, output: 60, cacheRead: 700 } },
  outbox: { sent: 12, unknown: 1, planned: 0 },
  uncertain: [{ id: 'out_1', address: 'telegram:group:-1001', state: 'unknown', reason: 'timed out', traceId: 'tr_1' }],
  undelivered: [
    { id: 'out_02', address: 'telegram:direct:555', state: 'rejected', traceId: 'tr_02', reason: '403: blocked' },
  ],
}

export const sampleWhy: WhyReport = {
  summary: 'Remembered and not answered: nobody addressed the agent.',
  inboxId: 'in_1',
  traceId: 'tr_1',
  receivedAt: AT,
  event: 'message',
  messageId: '42',
  address: 'telegram:group:-1001/7',
  sender: { id: '111', name: 'Ada' },
  decision: 'store',
  reason: 'not_addressed',
  steps: [
    {
      stage: 'access',
      verdict: 'pass',
      because: 'the group is open to everyone',
      config: 'routing.access.groups[0].who',
    },
    { stage: 'trigger', verdict: 'stop', because: 'nobody addressed the agent' },
  ],
  session: 'telegram:2026-11-21-9f3a61c0',
  outcome: 'stored',
  deliveries: [],
}

/** The name has every sign that means something in a URL. */
export const sampleSession: SessionDetail = {
  id: 'telegram:2026-11-21-9f3a61c0',
  key: 'agent:main:slack:chat:T01/C1@50%?#é',
  title: 'Workshop › Engines',
  kind: 'chat',
  status: 'idle',
  agent: 'main',
  createdAt: AT,
  updatedAt: AT + 60_000,
  messages: 3,
  turns: 1,
  description: 'lunch plans',
  preview: 'shall we?',
  scopeKey: `sk_v1_${'a'.repeat(64)}`,
  scope: {
    ...{ version: 1, agent: toAgentId('main'), channel: 'telegram', account: toAccountId('default') },
    ...{ dimensions: ['chat'], values: { chat: '-1001' } },
  },
  source: { kind: 'channel', interactive: true },
  metadata: { title: 'Lunch' },
  aliases: ['agent:main:slack:channel:c1'],
  participants: ['telegram:111'],
  events: [
    { seq: 1, at: AT, type: 'user', text: 'shall we?\nat noon' },
    { seq: 2, at: AT + 1000, type: 'assistant', turn: 'turn_1', text: 'yes' },
  ],
}

export const sampleSchedule: ScheduleSummary = {
  id: 'morning',
  source: 'config',
  cron: '0 8 * * 1-5',
  timezone: 'Europe/Berlin',
  prompt: 'What is new?',
  digestOf: 'telegram:group:-1001',
  deliverTo: 'telegram:group:-1002/7',
  missed: 'once',
  overlap: 'skip',
  paused: false,
  nextAt: AT + 60_000,
  last: { slotAt: AT, state: 'done', outcome: 'answered', traceId: 'tr_1' },
}

export const sampleApproval: ApprovalReport = {
  code: 'k7m3f',
  tool: 'pay',
  args: '{"to":"cy"}',
  session: 'telegram:direct:111',
  askedAt: AT,
  state: 'asked',
  late: false,
}

export const sampleAdmissions: readonly AdmissionReport[] = [
  { code: 'k7f3d', kind: 'person', key: 'telegram:555', name: 'Cy', state: 'asked', askedAt: AT },
  {
    code: 'm2p9q',
    kind: 'place',
    key: 'telegram:group:-1001',
    name: '',
    state: 'admitted',
    askedAt: AT,
    toldAt: AT,
    decidedAt: AT + 1000,
    decidedBy: 'ada',
  },
]

export const sampleReload: ReloadReport = {
  wider: ['routing.access.direct: public (was owner)'],
  narrower: ['people: bob: guest (was member)'],
  other: ['dispatch: changed'],
  warnings: ['people.ada.ids[0]: "5" matches on every channel'],
  later: ['session.publicTurns'],
}

export const sampleRestoration: RestorationReport = {
  at: AT,
  lastAt: AT - 60_000,
  state: 'held',
  held: 2,
  unanswered: [{ inboxId: 'in_1', address: 'telegram:direct:111', sentAt: AT - 1000 }],
}

export const samplePeople: PeopleReport = {
  people: [
    {
      name: 'ada',
      role: 'owner',
      ids: [
        { id: 'telegram:111', from: 'configuration' },
        { id: 'discord:222', from: 'link', overruledBy: 'bob' },
      ],
    },
    { name: 'bob', role: 'member', ids: [] },
  ],
  letIn: [{ kind: 'person', key: 'telegram:555', name: 'Cy', at: AT, by: 'ada' }],
  changes: [{ at: AT, kind: 'linked', person: 'ada', id: 'discord:222', by: 'telegram:111' }],
}

export const sampleMemory: MemoryReport = {
  ...{ no: 7, text: 'Ada likes\ngreen tea', agent: 'main', session: sampleSession.id, title: 'Workshop › Engines' },
  ...{ authors: ['telegram:111', 'nobody'], by: 'checkpoint', at: AT },
}

export interface FakeOperator extends ApiService {
  readonly asked: unknown[]
}

/** Answers the samples, remembers what it was asked, and refuses what the contract refuses. */
export function fakeOperator(overrides: Partial<ApiService> = {}): FakeOperator {
  const asked: unknown[] = []
  const { events, scopeKey, scope, source, metadata, aliases, participants, ...summary } = sampleSession
  const changed = (change: string) => async (id: string) => {
    asked.push({ [change]: id })
    if (id !== sampleSchedule.id) throw new ParleyError('not_found', `There is no schedule ${id}.`)
    return sampleSchedule
  }
  const named = (name: string): void => {
    if (name !== sampleSession.id && name !== sampleSession.key) {
      throw new ParleyError('not_found', `There is no session "${name}"`)
    }
  }
  return {
    asked,
    async status() {
      asked.push('status')
      return sampleStatus
    },
    archives: fakeArchives(asked, named, sampleSession),
    unseen: async () => ['telegram is down: the token is refused'],
    async why(name) {
      asked.push(name)
      return [sampleWhy.inboxId, sampleWhy.traceId, sampleWhy.messageId].includes(name) ? [sampleWhy] : []
    },
    sessions: {
      async list(query: SessionListQuery) {
        asked.push(query)
        if (query.limit < 1 || query.limit > 200) throw new ParleyError('invalid', 'limit must be 1 to 200')
        const sessions: SessionSummary[] = [
          summary,
          { ...summary, id: 'telegram:2026-11-20-00000000', key: 'main', title: 'Ada' },
        ]
        return { sessions: sessions.slice(query.offset, query.offset + query.limit), total: sessions.length }
      },
      async start(request) {
        asked.push(request)
        return { ...sampleSession, id: request.name ?? 'api:1' }
      },
      async create(request) {
        asked.push({ create: request })
        return { ...sampleSession, uuid: '9f3a61c0-0000-4000-8000-000000000000' }
      },
      async cancel(name) {
        asked.push({ cancel: name })
        named(name)
        return { session: sampleSession.id, stopped: true, dropped: 2 }
      },
      async checkpoint(name) {
        asked.push({ checkpoint: name })
        named(name)
        return { kind: 'nothing' }
      },
      async show(name) {
        asked.push(name)
        named(name)
        return sampleSession
      },
      async history(name, page) {
        asked.push({ history: name, ...page })
        named(name)
        return { session: sampleSession.id, events, total: 2, ...(page.before === undefined ? {} : { before: 1 }) }
      },
      async patch(name, changes) {
        asked.push({ patch: name, changes })
        named(name)
        return { ...sampleSession, sendPolicy: 'deny' }
      },
      async setHistory(name, boundary) {
        asked.push({ setHistory: name, boundary })
        named(name)
        return sampleSession
      },
      async rename(name, title) {
        asked.push({ rename: name, title })
        named(name)
        return { ...sampleSession, description: title }
      },
      async post(name, request) {
        asked.push({ post: name, ...request })
        named(name)
        const run = { runId: 'run_1', traceId: 'tr_9', session: sampleSession.id }
        return request.text === 'fail'
          ? { ...run, status: 'error', error: 'no' }
          : { ...run, status: 'ok', reply: 'echo' }
      },
      async delete(name) {
        asked.push({ delete: name })
        named(name)
      },
    },
    tokens: fakeTokens(asked),
    live: fakeLive(asked, sampleSession.id),
    chat: fakeChat(asked),
    notifications: {
      async send(wanted) {
        asked.push({ say: wanted })
        return { status: 'delivered', to: wanted.to, traceId: 'tr_2', messageIds: ['7'] }
      },
    },
    schedules: {
      async add(wanted) {
        asked.push({ add: wanted })
        return sampleSchedule
      },
      async list() {
        asked.push('schedules')
        return [sampleSchedule]
      },
      async next(id, count) {
        asked.push({ id, count })
        if (id !== sampleSchedule.id) throw new ParleyError('not_found', `There is no schedule ${id}.`)
        return Array.from({ length: count }, (_, day) => AT + day * 86_400_000)
      },
      async run(id) {
        asked.push({ run: id })
        if (id !== sampleSchedule.id) throw new ParleyError('not_found', `There is no schedule ${id}.`)
        return { slotAt: AT, traceId: 'tr_2' }
      },
      pause: changed('pause'),
      resume: changed('resume'),
      remove: changed('remove'),
    },
    config: {
      async reload() {
        asked.push('reload')
        return sampleReload
      },
    },
    admissions: {
      async list() {
        asked.push('admissions')
        return sampleAdmissions
      },
      async decide(name, verdict) {
        asked.push({ [verdict]: name })
        const found = sampleAdmissions.find(({ code }) => code === name)
        if (!found) throw new ParleyError('not_found', `Nobody has asked to be let in as ${name}.`)
        return { ...found, state: verdict === 'admit' ? 'admitted' : 'denied', decidedAt: AT, decidedBy: 'operator' }
      },
    },
    approvals: {
      async list() {
        asked.push('approvals')
        return [sampleApproval]
      },
      async decide(code, verdict) {
        asked.push({ [verdict]: code })
        if (code !== sampleApproval.code)
          throw new ParleyError('not_found', `I have asked nothing of the code ${code}.`)
        return { ...sampleApproval, state: verdict === 'approve' ? 'allowed' : 'denied', decidedBy: 'operator' }
      },
    },
    outbox: {
      async restoration() {
        asked.push('restoration')
        return sampleRestoration
      },
      async decide(verdict) {
        asked.push({ outbox: verdict })
        return { ...sampleRestoration, state: verdict === 'resume' ? 'resumed' : 'discarded', held: 0 }
      },
      ...fakeDecisions(asked),
    },
    forgetting: fakeForgetting(asked),
    ...fakeApi(asked),
    memory: {
      async list(query) {
        asked.push({ memory: query })
        return query.words === 'nothing' ? [] : [sampleMemory]
      },
      async show(no) {
        asked.push({ show: no })
        if (no !== sampleMemory.no) throw new ParleyError('not_found', `Nothing is remembered under ${no}.`)
        return sampleMemory
      },
      async remove(no) {
        asked.push({ remove: no })
        if (no !== sampleMemory.no) throw new ParleyError('not_found', `Nothing is remembered under ${no}.`)
        return sampleMemory
      },
    },
    people: {
      async list() {
        asked.push('people')
        return samplePeople
      },
      async link(person, id) {
        asked.push({ link: [person, id] })
        if (person !== 'ada') throw new ParleyError('not_found', `There is no person ${person}.`)
        return { person, id }
      },
      async unlink(id) {
        asked.push({ unlink: id })
        if (id !== 'discord:222') throw new ParleyError('not_found', `Nobody has linked ${id}.`)
        return { person: 'ada', id }
      },
    },
    ...overrides,
  }
}
