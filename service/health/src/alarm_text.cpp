#include "alarm_text.hpp"

#include <cctype>

#include "torchwatch/platform/clock.hpp"

namespace torchwatch::health {
namespace {

using storage::AlarmCause;

const char* what_is_missing(AlarmCause cause) {
  switch (cause) {
    case AlarmCause::no_nightly:
      return "no nightly has come";
    case AlarmCause::no_verdict:
      return "no nightly has received its verdicts";
    case AlarmCause::no_delivery:
      return "issues of incidents have not been filed";
    case AlarmCause::no_self_test:
      return "no self-test has ended";
    case AlarmCause::missed_drill:
      return "a planted slowdown has not been found";
  }
  return "";
}

const char* what_came(AlarmCause cause) {
  switch (cause) {
    case AlarmCause::no_nightly:
      return "a nightly has come";
    case AlarmCause::no_verdict:
      return "nightlies receive their verdicts again";
    case AlarmCause::no_delivery:
      return "the issues of incidents have been filed";
    case AlarmCause::no_self_test:
      return "a self-test has ended";
    case AlarmCause::missed_drill:
      return "a later planted slowdown has been found";
  }
  return "";
}

const char* what_to_look_at(AlarmCause cause) {
  switch (cause) {
    case AlarmCause::no_nightly:
      return "Look at what publishes the builds, and at `[channel]` of the configuration.";
    case AlarmCause::no_verdict:
      return "`torchwatch status` and `torchwatch comparison list` say what the comparisons wait "
             "for.";
    case AlarmCause::no_delivery:
      return "`torchwatch outbox list` has the tracker's answers; the token may have expired.";
    case AlarmCause::no_self_test:
      return "`torchwatch comparison list` says what became of the last ones. Without them nobody "
             "knows how often the service is wrong.";
    case AlarmCause::missed_drill:
      return "`torchwatch comparison list` has the drill: its build was compared with itself, one "
             "side slowed down by twice the threshold, and was not called slower. Real slowdowns "
             "may be missed, too: look at how noisy its runs are.";
  }
  return "";
}

}  // namespace

std::string alarm_sentence(const storage::AlarmRow& alarm) {
  std::string sentence = what_is_missing(alarm.cause);
  sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  return sentence + " since " + platform::date_and_minute(alarm.since) + " UTC.";
}

std::string alarm_title(const storage::AlarmRow& alarm) {
  return std::string("torchwatch alarm: ") + what_is_missing(alarm.cause);
}

std::string alarm_body(const storage::AlarmRow& alarm) {
  return alarm_sentence(alarm) + "\n\n" + what_to_look_at(alarm.cause) +
         " `/healthz` shows what does not work at present.\n\nThis is an alarm about torchwatch "
         "itself, not about PyTorch. This issue is closed when it ends.\n";
}

std::string alarm_end(const storage::AlarmRow& alarm) {
  return std::string("The alarm has ended: ") + what_came(alarm.cause) + ".\n";
}

}  // namespace torchwatch::health
