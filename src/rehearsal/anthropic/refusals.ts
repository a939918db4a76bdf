import type { ErrorReply } from './script.ts'

/** The refusals that the API gives by itself, whatever was asked, and those of servers in front of it. */
export const REFUSALS = {
  rateLimit: {
    error: { status: 429, type: 'rate_limit_error', message: 'This request would exceed your rate limit.' },
  },
  overloaded: { error: { status: 529, type: 'overloaded_error', message: 'Overloaded' } },
  /** No credit is a request that is not valid. */
  noCredit: {
    error: {
      ...{ status: 400, type: 'invalid_request_error' },
      message:
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    },
  },
  tooLong: {
    error: {
      ...{ status: 400, type: 'invalid_request_error' },
      message: 'prompt is too long: 213462 tokens > 200000 maximum',
    },
  },
  tooLongWithAnswer: {
    error: {
      ...{ status: 400, type: 'invalid_request_error' },
      message:
        'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    },
  },
  /** Only a sentence, as gateways send it. */
  gatewayLimit: {
    error: { status: 429, type: 'none', body: { message: 'Too many requests, please wait before trying again.' } },
  },
  gatewayForbidden: { error: { status: 403, type: 'none', body: { message: 'Forbidden' } } },
  /** The page of a proxy. */
  proxy: {
    error: { status: 502, type: 'none', body: '<html><head><title>502 Bad Gateway</title></head></html>' },
  },
  proxyLimit: {
    error: { status: 429, type: 'none', body: '<html><head><title>429 Too Many Requests</title></head></html>' },
  },
  /** A refusal as Bedrock hands it on. */
  bedrock: {
    error: {
      ...{ status: 400, type: 'none' },
      headers: { 'x-amzn-errortype': 'ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/' },
      body: {
        message:
          'The model returned the following errors: "thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      },
    },
  },
} as const satisfies Readonly<Record<string, ErrorReply>>
