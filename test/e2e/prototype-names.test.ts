import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'

const NAMES = ['__proto__', 'constructor', 'toString']

/** Calls tools of such names first, with arguments of such names. */
const curious: Script = (request) => {
  const asked = lastUserText(request)
  if (asked !== 'use tools') return textReply(asked.startsWith('/') ? `heard ${NAMES.indexOf(asked.slice(1))}` : 'done')
  const input = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
  return { blocks: [...NAMES, 'current_time'].map((name) => ({ type: 'tool_use', name, input })) }
}

it('F-G09: names of the prototype in updates, tool calls and commands change nothing, and the daemon goes on', async () => {
  const { telegram, daemon, anthropic } = await startHousehold({ script: curious, streaming: false })
  const { world, ledger } = telegram
  world.raw({
    update: '{"update_id":700001,"__proto__":{"polluted":true},"message":{"__proto__":{"chat":{"id":111}}}}',
  })
  world.raw({ update: '{"update_id":700002,"constructor":{"prototype":{"polluted":true}},"__proto__":null}' })
  for (const [at, name] of NAMES.entries()) {
    world.say({ from: 111, text: `/${name}` })
    await ledger.nextFromBot('sent', { where: ({ text }) => text === `heard ${at}` })
  }
  world.say({ from: 111, text: 'use tools' })
  await ledger.nextFromBot('sent', { where: ({ text }) => text === 'done' })
  const told = (anthropic?.ledger.requests() ?? []).map(lastUserText).at(-1)
  for (const name of NAMES) expect(told).toContain(`There is no tool "${name}". Known tools: current_time.`)

  for (const name of NAMES) {
    await expect(daemon.operator.sessions.show(name)).rejects.toMatchObject({ code: 'not_found' })
    expect(await daemon.operator.why(name)).toEqual([])
  }
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
