import * as z from 'zod'
import { textContent } from '../../core/content.ts'
import type { MemoryTools } from '../../core/memory.ts'
import type { Tool } from '../../core/turn.ts'
import { readArgs } from './read-args.ts'

const ARGS = z.object({ number: z.int() })

/** Removes an entry, where all whose words the turn was shown might remove it. Keyed by its call, as `memory_save`. */
export function memoryForget(memory: Pick<MemoryTools, 'forget'>): Tool {
  return {
    class: 'keyed',
    keepsWords: false,
    reach: 'judged',
    spec: {
      name: 'memory_forget',
      description: 'Removes what you remember under a number of memory_search.',
      parameters: {
        type: 'object',
        properties: { number: { type: 'number' } },
        required: ['number'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId: id, sessionId, agentId, callId }) {
      const { number } = readArgs(ARGS, args)
      await memory.forget(number, { id, sessionId, agentId }, `${id} ${callId}`)
      return { content: textContent(`Number ${number} is forgotten.`) }
    },
  }
}
