import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { load, refusal, TELEGRAM } from './loading.ts'

const NAMES = ['__proto__', 'constructor', 'prototype', 'hasownproperty']

describe('F-G09: names of the prototype in a configuration', () => {
  let before: readonly PropertyKey[]
  beforeEach(() => {
    before = Reflect.ownKeys(Object.prototype)
  })
  afterEach(() => expect(Reflect.ownKeys(Object.prototype)).toEqual(before))

  it.each([
    ['of a person', `${TELEGRAM}people: { __proto__: { role: owner, ids: ["telegram:111"] } }`, 2],
    ['of an account', 'channels: { telegram: { accounts: { a: { token: "5:x" }, __proto__: { token: "6:x" } } } }', 1],
    ['of a channel', `channels:\n  telegram: { accounts: { a: { token: "5:x" } } }\n  __proto__: { accounts: {} }`, 3],
    ['of a setting', `${TELEGRAM}routing: { __proto__: { access: { direct: public } } }`, 2],
    ['in quotes', `${TELEGRAM}"__proto__": { routing: { access: { direct: public } } }`, 2],
    ['by an alias', `${TELEGRAM}agents: [{ id: &name __proto__ }]\npeople: { *name : { role: owner } }`, 3],
  ])('`__proto__` as the key %s is refused with its line', async (_, yaml, line) => {
    expect(await refusal(yaml)).toContain(`parley.yaml:${line}: no key can be \`__proto__\`; rename it`)
  })

  it.each(NAMES)('a rule for the sender %s matches nothing, and is warned of', async (name) => {
    const { config } = await load(`${TELEGRAM}routing: { dispatch: [{ match: { sender: ${name} } }] }`)
    expect(config.warnings.join('\n')).toContain(`nobody under people is called "${name}"`)
  })

  it('a person of such a name is that person, and no more', async () => {
    const { config } = await load(`${TELEGRAM}people: { constructor: { role: owner, ids: ["telegram:111"] } }`)
    expect(config.routing.people).toEqual([{ id: 'constructor', role: 'owner', ids: ['telegram:111'] }])
  })

  it.each(NAMES)('a reference to the variable %s is one that is not set', async (name) => {
    const { config } = await load(`channels: { telegram: { accounts: { a: { token: "\${env:${name}}" } } } }`)
    expect(config.down).toMatchObject([{ account: 'a', reason: expect.stringContaining(`${name} is not set`) }])
  })

  it.each(['__proto__', 'constructor', 'toString'])('there is no server of models and no tool %s', async (name) => {
    const agent = (fields: string) => `${TELEGRAM}agents: [{ id: a, ${fields} }]`
    expect(await refusal(agent(`model: "${name}/echo"`))).toContain(`models has no server ${name}`)
    expect(await refusal(agent(`model: scripted/echo, tools: [${name}]`))).toContain('there are no such tools')
  })
})
