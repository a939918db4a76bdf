import { parse, stringify } from 'yaml'
import type { AgentProfile } from '../../core/agent-profile.ts'
import { textOf } from '../../core/content.ts'
import type { SessionEvent } from '../../core/event.ts'
import { type ArchivedSession, isAboutExport } from '../../core/operate-archives.ts'
import { shown } from '../view/said-content.ts'
import { transcriptRows } from './transcript-rows.ts'
import { type CompletedTurn, TurnGroups } from './turn-groups.ts'

/** A workflow of one chain: input, a node for each completed turn, output (C35, C49). */
export interface Workflow {
  readonly schema_version: string
  readonly workflow: {
    readonly id: string
    readonly name?: string
    readonly agents?: readonly object[]
    readonly nodes: readonly WorkflowNode[]
    readonly edges: readonly { readonly from: string; readonly to: string }[]
    readonly metadata: Readonly<Record<string, unknown>>
  }
}

interface WorkflowNode {
  readonly id: string
  readonly type: 'input' | 'agent' | 'output'
  readonly agent_ref?: string
  readonly prompt_template?: string
  readonly tools?: readonly string[]
}

/** Returns a session as a workflow. The same log gives the same value: no clock is read. */
export function sessionWorkflow(session: ArchivedSession, events: readonly SessionEvent[]): Workflow {
  const groups = new TurnGroups()
  for (const event of events) groups.add(event)
  const turns = groups.completed.map((turn, index) => turnNode(turn, index, session))
  const nodes: WorkflowNode[] = [{ id: 'input', type: 'input' }, ...turns, { id: 'output', type: 'output' }]
  const edges = nodes.slice(1).map(({ id }, index) => ({ from: nodes[index]?.id ?? '', to: id }))
  const title = session.description.trim()
  const { agentProfile } = session
  return {
    schema_version: '1.0',
    workflow: {
      id: slugOf(title),
      ...(title === '' ? {} : { name: title }),
      ...(agentProfile === undefined ? {} : { agents: [agentEntry(agentProfile)] }),
      nodes,
      edges,
      metadata: { relaviumExport: exportOf(session, events) },
    },
  }
}

function turnNode({ received, tools }: CompletedTurn, index: number, session: ArchivedSession): WorkflowNode {
  const prompt = defused(textOf(shown({ received }, session.chatType)))
  return {
    id: `turn-${index + 1}`,
    type: 'agent',
    agent_ref: session.agentId,
    ...(prompt === '' ? {} : { prompt_template: prompt }),
    ...(tools.length === 0 ? {} : { tools }),
  }
}

/** A prompt is a template there: what somebody typed must not become a placeholder (C38). */
function defused(text: string): string {
  return text.replace(/\{(?=\{)/g, '{ ')
}

/** The agent as it was at the start: the only place that names a model, which no node does. */
function agentEntry({ id, model, prompt, tools }: AgentProfile): object {
  const slash = model.indexOf('/')
  return { id, provider: model.slice(0, slash), model: model.slice(slash + 1), system_prompt: prompt, tools }
}

function exportOf(session: ArchivedSession, events: readonly SessionEvent[]): object {
  const title = session.description.trim()
  const last = events.findLast((event) => !isAboutExport(event))
  return {
    source: 'session',
    sessionId: session.id,
    agentSlug: session.agentId,
    ...(title === '' ? {} : { title }),
    createdAt: new Date(session.createdAt).toISOString(),
    updatedAt: new Date(last?.at ?? session.createdAt).toISOString(),
    messages: transcriptRows(events),
  }
}

/** Returns the ASCII letters and digits of a title as words with dashes between them (C39). */
export function slugOf(title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-') || 'exported-session'
}

/**
 * Returns the text of a workflow: keys sorted, lists in their order, so that parsing it and writing it again gives the
 * same bytes (C41). Where a text is one that plain YAML does not give back, every text is quoted.
 */
export function workflowText(workflow: unknown): string {
  const clean = wellFormed(workflow)
  const text = stringify(clean, OPTIONS)
  return stringify(parse(text), OPTIONS) === text && JSON.stringify(parse(text)) === JSON.stringify(sorted(clean))
    ? text
    : stringify(clean, { ...OPTIONS, defaultStringType: 'QUOTE_DOUBLE' })
}

const OPTIONS = { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false } as const

/** Replaces half a surrogate pair, which no file in UTF-8 can hold. */
function wellFormed(value: unknown): unknown {
  return mapped(value, (text) => text.replace(/\p{Surrogate}/gu, '\uFFFD'))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapped(item, change)]))
}
