#!/usr/bin/env node
// A hook for `before_save`: long numbers in what people write are stored, and shown to models, without their digits.
import { text } from 'node:stream/consumers'

const call = JSON.parse(await text(process.stdin))
if (call.on === 'before_save') {
  console.log(JSON.stringify({ text: call.text.replaceAll(/\d(?:[ -]?\d){6,}/g, '[number]') }))
}
