import type { ToolClass } from '../../src/core/model.ts'
import type { Tool } from '../../src/core/turn.ts'
import { recordProbe } from './setup-file.ts'

const CLASSES: readonly ToolClass[] = ['pure', 'keyed', 'once']

/**
 * `probe_pure`, `probe_keyed` and `probe_once`: each execution leaves a line in `file`, so that they can be counted.
 */
export function probeTools(file: string): Tool[] {
  const inside = CLASSES.map((toolClass) => probe(file, toolClass))
  const beyond = probe(file, 'once')
  return [...inside, { ...beyond, reach: 'beyond', spec: { ...beyond.spec, name: 'probe_beyond' } }]
}

function probe(file: string, toolClass: ToolClass): Tool {
  return {
    class: toolClass,
    reach: 'inside',
    spec: {
      name: `probe_${toolClass}`,
      description: `Leaves a mark; of class ${toolClass}.`,
      parameters: { type: 'object', properties: {}, additionalProperties: true },
    },
    async run(_args, { turnId, callId }) {
      recordProbe(file, { class: toolClass, turnId, callId })
      return `${toolClass} done`
    },
  }
}
