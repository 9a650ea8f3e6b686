// Wrong on purpose: promotes the follow-up that came last. One waiting message does not show it, two do.

import { Projector, serve } from './projector.mjs';

class LastInFirstOut extends Projector {
  promoted() {
    return this.queue.pop();
  }
}

serve(LastInFirstOut, 'wrong_lifo.mjs');
