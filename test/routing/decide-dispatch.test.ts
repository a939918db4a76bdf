import { expect, it } from 'vitest'
import { decideDispatch } from '../../src/routing/decide-dispatch.ts'
import { dispatchOf, message, routeFacts, slackChannel, user } from '../fakes/dispatch.ts'
import { household, routingOf } from '../fakes/routing-policy.ts'

const routing = routingOf(household())
const said = (sender: string) =>
  message({ address: slackChannel(), sender: user(sender, { team: 'T01' }), opens: '17.000001' })

it('K12: a message that is answered in a new thread is routed with its own id as topic, and answered there', () => {
  const { dispatch, decision } = decideDispatch(routing, routeFacts(), dispatchOf(said('U333')))
  expect(decision).toMatchObject({ kind: 'run', reason: 'owner', route: { displayKey: 'slack:channel:c1/17.000001' } })
  expect(dispatch.reply.address).toEqual({ ...slackChannel(), topic: '17.000001' })
  expect(dispatch.event.address.topic).toBe('17.000001')
})

it('K12: what nobody answers stays where it was said', () => {
  const received = dispatchOf(said('U444'))
  const { dispatch, decision } = decideDispatch(routing, routeFacts(), received)
  expect(decision).toMatchObject({ kind: 'context', route: { displayKey: 'slack:channel:c1' } })
  expect(dispatch).toBe(received)
})

it('a message that opens nothing is decided once, where it stands', () => {
  const received = dispatchOf(message({ mentioned: true }))
  expect(decideDispatch(routing, routeFacts(), received).dispatch).toBe(received)
})
