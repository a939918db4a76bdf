import { expect, it } from 'vitest'
import { textContent } from '../../../src/core/content.ts'
import type { ModelMessage } from '../../../src/core/model.ts'
import { toolNotes } from '../../../src/sessions/view/tool-notes.ts'

const steps: ModelMessage[] = [
  { role: 'assistant', text: '', calls: [{ id: '1', name: 'time', args: { zone: 'UTC' } }] },
  { role: 'tool', results: [{ id: '1', content: textContent('noon\n`sharp`'), isError: false }] },
  { role: 'assistant', text: '', calls: [{ id: '2', name: 'fetch', args: {} }] },
  { role: 'tool', results: [{ id: '2', content: textContent('x'.repeat(500)), isError: true }] },
]

it.each([
  ['off', undefined],
  ['on', '> used `time`\n> used `fetch`, which failed'],
  [
    'full',
    `> used \`time\` with \`{"zone":"UTC"}\`: \`noon sharp\`\n> used \`fetch\` with \`{}\`, which failed: \`${'x'.repeat(200)}…\``,
  ],
] as const)('T37: verbose %s shows the tool steps so', (level, text) => {
  expect(toolNotes(steps, level)).toBe(text)
})

it('T37: a turn without tools has nothing to show', () => {
  expect(toolNotes([{ role: 'user', content: textContent('x') }], 'full')).toBeUndefined()
})
