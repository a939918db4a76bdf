import { EXIT } from '../../core/errors.ts'
import type { MemoryReport } from '../../core/operate-memory.ts'
import { askOperator } from '../ask-operator.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export interface ListMemoryOptions extends ReadOptions {
  readonly words: string
  readonly before?: number
}

export async function listMemory(ports: ReadPorts, { words, before, ...options }: ListMemoryOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const query = { ...(words === '' ? {} : { words }), ...(before === undefined ? {} : { before }) }
  const entries = await askOperator(ports, loaded, (operator) => operator.memory.list(query))
  show(ports, options, {
    value: entries,
    lines: (style) => {
      if (entries.length === 0) return [words === '' ? 'Nothing is remembered.' : 'Nothing like that is remembered.']
      const [header = '', ...rows] = columns([['NO', 'AT', 'AGENT', 'CONVERSATION', 'TEXT'], ...entries.map(row)])
      return [style.bold(header), ...rows]
    },
  })
  return EXIT.ok
}

function row({ no, at, agent, title, text }: MemoryReport): string[] {
  return [String(no), formatTime(at), agent, title, text].map(oneLine)
}

export interface OneEntryOptions extends ReadOptions {
  readonly no: number
  readonly verb: 'show' | 'remove'
}

export async function oneEntry(ports: ReadPorts, { no, verb, ...options }: OneEntryOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const entry = await askOperator(ports, loaded, (operator) => operator.memory[verb](no))
  show(ports, options, {
    value: entry,
    lines: () => (verb === 'remove' ? [`Removed ${entry.no}: ${oneLine(entry.text)}`] : linesOf(entry)),
  })
  return EXIT.ok
}

function linesOf({ no, text, agent, session, title, authors, by, at }: MemoryReport): string[] {
  return columns([
    ['number', String(no)],
    ['text', oneLine(text)],
    ['agent', oneLine(agent)],
    ['learned in', `${oneLine(title)} (${oneLine(session)})`],
    ['words of', oneLine(authors.join(', '))],
    [
      'written by',
      `${by === 'person' ? 'a person' : by === 'agent' ? 'the agent' : 'a checkpoint'}, ${formatTime(at)}`,
    ],
  ])
}
