// The part of `@opentelemetry/api` that is used here, so that nothing is imported: a program hands in its own copy. The test
// hands in the real one.

export interface OtelSpanContext {
  traceId: string
  spanId: string
  traceFlags: number
}

export type Attributes = Record<string, string | number | boolean>

export interface OtelSpan {
  spanContext(): OtelSpanContext
  setAttribute(name: string, value: string | number | boolean): unknown
  setStatus(status: { code: number; message?: string }): unknown
  recordException(error: Error | string, time?: Date): void
  end(endTime?: Date): void
}

export interface NewSpan {
  kind: number
  startTime: Date
  attributes: Attributes
  links: { context: OtelSpanContext }[]
}

export interface OtelTracer<Context> {
  startSpan(name: string, options: NewSpan, context: Context): OtelSpan
}

/** A context is opaque: made, handed on, and never looked into. */
export interface OtelApi<Context> {
  ROOT_CONTEXT: Context
  trace: {
    getTracer(name: string, version?: string): OtelTracer<Context>
    setSpanContext(context: Context, spanContext: OtelSpanContext): Context
    /** Of the caller; there since 1.1. */
    getActiveSpan?(): Pick<OtelSpan, 'spanContext'> | undefined
  }
  context: {
    with<Answer>(context: Context, call: () => Answer): Answer
  }
}

/** As OpenTelemetry numbers them. */
export const INTERNAL = 0
export const PRODUCER = 3
export const CONSUMER = 4
export const STATUS_ERROR = 2
export const SAMPLED = 1
