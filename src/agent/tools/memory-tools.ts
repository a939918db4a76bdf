import type { MemoryTools } from '../../core/memory.ts'
import type { SessionTools } from '../../core/session-tools.ts'
import type { Tool } from '../../core/turn.ts'
import { memoryForget } from './memory-forget.ts'
import { memorySave } from './memory-save.ts'
import { memorySearch } from './memory-search.ts'
import { sessionSearch } from './session-search.ts'

/** Returns the tools of the group `memory`. */
export function memoryTools(memory: MemoryTools, sessions: Pick<SessionTools, 'search'>): readonly Tool[] {
  return [memorySearch(memory), memorySave(memory), memoryForget(memory), sessionSearch(sessions)]
}
