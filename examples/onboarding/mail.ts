// A simulated mail service. A real one gets the idempotency key, so that a repeated call sends no second mail.

interface Mail {
  to: { name: string }
  subject: string
  idempotencyKey: string
}

export async function sendMail({ to, subject }: Mail) {
  console.log(`mail to ${to.name}: ${subject}`)
  return { subject }
}
