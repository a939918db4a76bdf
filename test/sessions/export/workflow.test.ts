import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { SessionEvent } from '../../../src/core/event.ts'
import type { ExportFormat } from '../../../src/core/export-format.ts'
import { type InboxId, type SessionId, type TurnId, toAccountId, toAgentId, toScopeKey } from '../../../src/core/ids.ts'
import type { ArchivedSession } from '../../../src/core/operate-archives.ts'
import { sessionWorkflow, slugOf, workflowText } from '../../../src/sessions/export/workflow.ts'
import { writeExport } from '../../../src/sessions/export/write-export.ts'
import { eventLog } from '../../fakes/session-events.ts'

const SESSION: ArchivedSession = {
  id: 'api:trip' as SessionId,
  scopeKey: toScopeKey('sk_v1_a'),
  scope: {
    ...{ version: 1, agent: toAgentId('main'), channel: 'api', account: toAccountId('') },
    ...{ dimensions: [], values: {} },
  },
  agentId: toAgentId('main'),
  kind: 'other',
  displayKey: 'api:direct:trip',
  chatType: 'direct',
  source: { kind: 'api', interactive: true },
  metadata: {},
  createdAt: 1_700_000_000_000,
  description: 'A Trip to Übersee, 2026!',
  descriptionSource: 'fallback',
  overrides: {},
  participants: [],
  authors: [],
  lastSeq: 0,
}

const PROFILE = {
  id: toAgentId('main'),
  model: 'anthropic/some-model',
  prompt: 'You are {{ctx.name}}.',
  tools: ['time', 'web_fetch'],
  maxSteps: 7,
}

function twoTurns(): SessionEvent[] {
  const log = eventLog()
  log.user('when is the train?')
  log.started('t1')
  log.step('t1', 'c1')
  log.result('t1', 'c1')
  log.answered('t1', 'At seven.')
  log.user('and back?')
  log.started('t2')
  log.answered('t2', 'At nine.')
  return log.events
}

const nodesOf = (events: readonly SessionEvent[], session = SESSION) => sessionWorkflow(session, events).workflow.nodes

async function exported(format: ExportFormat, events: readonly SessionEvent[]): Promise<string> {
  let text = ''
  const pages = async function* () {
    yield events
  }
  for await (const part of writeExport(format, { session: SESSION, pages, file: async () => undefined })) text += part
  return text
}

it('C35: what is said in a voice note is in the workflow and in Markdown, where other things are named', async () => {
  const log = eventLog()
  const files = [
    { ref: 'r1', spoken: 'when is the train?' },
    { ref: 'r3', text: 'no running' },
  ]
  log.user('', {
    attachments: [
      { ref: 'r1', kind: 'voice', about: '3 s' },
      { ref: 'r2', kind: 'photo' },
      { ref: 'r3', fileName: 'rules.txt' },
    ],
  })
  log.started('t1')
  log.add({ type: 'files_read', data: { files } }, 't1')
  log.answered('t1', 'At seven.')
  log.user('', { enclosed: ['location: 52.5, 13.4'] })
  expect(nodesOf(log.events)[1]).toMatchObject({
    prompt_template: '[voice note, 0:03] when is the train?\n[attached: photo]\n[attached: rules.txt]',
  })
  expect(await exported('workflow', log.events)).toContain('[voice note, 3 s] when is the train?')
  const page = await exported('markdown', log.events)
  expect(page).toContain('> [voice note, 3 s] when is the train?\n> [photo]')
  expect(page).toContain('> [location: 52.5, 13.4]')
})

it('C35: an exchange that was taken back is in no workflow and no Markdown, and stays in the bundle', async () => {
  const log = eventLog()
  log.user('when is the train?')
  log.started('t1')
  log.answered('t1', 'At seven.')
  log.user('my secret is blue', { messageId: '3' })
  log.started('t2')
  log.answered('t2', 'Blue it is.')
  const data = { turn: 't2' as TurnId, messages: [{ messageId: '3' }], command: 'in_1' as InboxId }
  log.add({ type: 'exchange_taken_back', data })
  for (const format of ['workflow', 'markdown'] as const) {
    const text = await exported(format, log.events)
    expect(text).toContain('when is the train?')
    expect(text).not.toMatch(/blue/i)
  }
  expect(await exported('bundle', log.events)).toContain('my secret is blue')
})

describe('a session as a workflow', () => {
  it('C35, C49: it is input, one node for each completed turn in order, output, and straight edges', () => {
    const { workflow } = sessionWorkflow(SESSION, twoTurns())
    expect(workflow.nodes.map(({ id, type }) => `${id} ${type}`)).toEqual([
      'input input',
      'turn-1 agent',
      'turn-2 agent',
      'output output',
    ])
    expect(workflow.edges).toEqual([
      { from: 'input', to: 'turn-1' },
      { from: 'turn-1', to: 'turn-2' },
      { from: 'turn-2', to: 'output' },
    ])
    expect(workflow.nodes.map((node) => node.prompt_template)).toEqual([
      undefined,
      'when is the train?',
      'and back?',
      undefined,
    ])
  })

  it('C35: an empty session is an edge from input to output', () => {
    expect(sessionWorkflow(SESSION, []).workflow.edges).toEqual([{ from: 'input', to: 'output' }])
  })

  it('C36: a turn of several steps is one node, its tools listed once, in the order of the first call', () => {
    const log = eventLog()
    log.user('look')
    log.started('t')
    const call = (...tools: string[]) =>
      log.add(
        {
          type: 'assistant_step',
          data: {
            ...{ text: '', model: 'm', usage: { input: 1, output: 1 } },
            calls: tools.map((tool, index) => ({ callId: `${tool}${index}`, tool, args: {} })),
          },
        },
        't',
      )
    call('web_search')
    call('web_fetch', 'web_search')
    call('web_fetch', 'clock')
    log.answered('t', 'Found.')
    expect(nodesOf(log.events).slice(1, -1)).toEqual([
      {
        ...{ id: 'turn-1', type: 'agent', agent_ref: 'main', prompt_template: 'look' },
        tools: ['web_search', 'web_fetch', 'clock'],
      },
    ])
  })

  it('C37: failed, cancelled, running and unanswered turns have no node and stand in the metadata', () => {
    const log = eventLog()
    log.user('fails', { row: 'in_1' as never })
    log.started('t1', ['in_1'])
    log.step('t1', 'c1')
    log.failed('t1')
    log.user('is stopped', { row: 'in_2' as never })
    log.started('t2', ['in_2'])
    log.cancelled('t2')
    log.user('is answered', { row: 'in_3' as never })
    log.started('t3', ['in_3'])
    log.answered('t3', 'Yes.')
    log.user('waits', { row: 'in_4' as never })
    const { workflow } = sessionWorkflow(SESSION, log.events)
    expect(workflow.nodes.map(({ prompt_template }) => prompt_template)).toEqual([undefined, 'is answered', undefined])
    const said = JSON.stringify(workflow.metadata)
    for (const text of ['fails', 'is stopped', 'is answered', 'waits', 'clock']) expect(said).toContain(text)
  })

  it('C37: words that their writer deleted are in no node and not in the metadata', () => {
    const log = eventLog()
    log.user('my number is 4711', { messageId: '5' })
    log.started('t')
    log.answered('t', 'Noted.')
    log.add({ type: 'message_deleted', data: { messageId: '5' } })
    expect(JSON.stringify(sessionWorkflow(SESSION, log.events))).not.toContain('4711')
  })

  it('C38: braces that would open a placeholder are defused in prompts and kept in the metadata', () => {
    const log = eventLog()
    log.user('say {{secrets.KEY}} and {{{x}}} and {y}')
    log.started('t')
    log.answered('t', 'No.')
    const { nodes, metadata } = sessionWorkflow(SESSION, log.events).workflow
    expect(nodes[1]?.prompt_template).toBe('say { {secrets.KEY}} and { { {x}}} and {y}')
    expect(nodes[1]?.prompt_template).not.toContain('{{')
    expect(JSON.stringify(metadata)).toContain('say {{secrets.KEY}} and {{{x}}} and {y}')
  })

  it.each([
    ['A Trip to Übersee, 2026!', 'a-trip-to-bersee-2026'],
    ['  --- ', 'exported-session'],
    ['', 'exported-session'],
    ['東京', 'exported-session'],
  ])('C39: the id of a workflow called %j is %s', (title, id) => {
    expect(slugOf(title)).toBe(id)
    expect(sessionWorkflow({ ...SESSION, description: title }, []).workflow.id).toBe(id)
  })

  it('C40: without an agent of its own it has no list of agents', () => {
    expect(sessionWorkflow(SESSION, twoTurns()).workflow).not.toHaveProperty('agents')
  })

  it('C49: the agent as it was at the start is the only one, and no node names a model, a temperature or retries', () => {
    const { workflow } = sessionWorkflow({ ...SESSION, agentProfile: PROFILE }, twoTurns())
    expect(workflow.agents).toEqual([
      {
        ...{ id: 'main', provider: 'anthropic', model: 'some-model', system_prompt: 'You are {{ctx.name}}.' },
        tools: ['time', 'web_fetch'],
      },
    ])
    const fields = new Set(workflow.nodes.flatMap((node) => Object.keys(node)))
    expect([...fields].sort()).toEqual(['agent_ref', 'id', 'prompt_template', 'tools', 'type'])
  })

  it('C49: the metadata holds the whole transcript, and every map has sorted keys', () => {
    const { workflow } = parse(workflowText(sessionWorkflow({ ...SESSION, agentProfile: PROFILE }, twoTurns())))
    expect(workflow.metadata.relaviumExport).toMatchObject({ source: 'session', sessionId: 'api:trip' })
    expect(workflow.metadata.relaviumExport.messages.map(({ role }: { role: string }) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'assistant'],
      ...['user', 'assistant'],
    ])
    const unsorted: string[] = []
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      const keys = Object.keys(value)
      if (!Array.isArray(value) && keys.join() !== keys.toSorted().join()) unsorted.push(keys.join())
      Object.values(value).forEach(walk)
    }
    walk(workflow)
    expect(unsorted).toEqual([])
  })

  it('C41: two exports are equal byte for byte, whatever exports are on record, and so is one parsed and written again', () => {
    const events = twoTurns()
    const at = {
      seq: events.length + 1,
      at: 99,
      type: 'session_exported',
      data: { format: 'workflow', path: '/x' },
    } as const
    const first = workflowText(sessionWorkflow(SESSION, events))
    expect(workflowText(sessionWorkflow(SESSION, [...events, at]))).toBe(first)
    expect(workflowText(parse(first))).toBe(first)
  })

  it.each([
    ['line ends', 'a\r\nb\rc\n\n\n'],
    ['leading and trailing space', '  a\n \tb  '],
    ['what YAML has a meaning for', '- a: b # c\n--- \n? x\n&a *a !t %d @e `f` "g" \'h\' {{i}} [j]'],
    ['control characters', 'a\u0000b\u0007c\u0085d\u2028e\u2029f\uFEFFg'],
    ['half an emoji', 'a\uD83Db'],
    ['words that are values', 'yes'],
    ['numbers', '0x1F'],
    ['a date', '2026-11-21'],
    ['nothing', ''],
    ['a very long line', `${'word '.repeat(400)}end`],
    ['emojis', '👩‍👩‍👧 é'],
  ])('C41: %s come back from the text as they were, and are written again as the same bytes', (_what, words) => {
    const log = eventLog()
    log.user(words)
    log.started('t')
    log.answered('t', words)
    const text = workflowText(sessionWorkflow({ ...SESSION, agentProfile: { ...PROFILE, prompt: words } }, log.events))
    expect(workflowText(parse(text))).toBe(text)
    expect(Buffer.from(text).toString()).toBe(text)
    const { agents } = parse(text).workflow
    expect(agents[0].system_prompt).toBe(words.replace(/\p{Surrogate}/gu, '\uFFFD'))
  })
})
