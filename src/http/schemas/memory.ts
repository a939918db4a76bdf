import type { MemoryReport } from '../../core/operate-memory.ts'
import { count, list, object, oneOf, text, texts, time } from './shape.ts'

export const memory = object<MemoryReport>(
  {
    no: count,
    text,
    agent: text,
    session: text,
    title: text,
    authors: texts,
    by: oneOf({ checkpoint: true, agent: true, person: true }),
    at: time,
  },
  'Memory',
)
export const memories = list(memory)
